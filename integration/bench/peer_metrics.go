//go:build metrics

package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockotel"
	"github.com/rlock-go/redisson/rlockprom"
)

func init() {
	openers[prometheusP] = func(addr string) (client, error) {
		metrics := rlockprom.New()
		if err := prometheus.NewRegistry().Register(metrics); err != nil {
			return client{}, err
		}
		return openOursWith(addr, rlock.WithObserver(metrics.Observer()))
	}
	openers[otelP] = func(addr string) (client, error) {
		o, err := rlockotel.New(
			rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))),
			rlockotel.WithTracerProvider(noop.NewTracerProvider()),
		)
		if err != nil {
			return client{}, err
		}
		return openOursWith(addr, rlock.WithObserver(o))
	}
}
