package rlockotel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockotel"
)

func TestMain(m *testing.M) {
	s := redistest.Start(redistest.Examples)
	if err := os.Setenv("REDIS_URL", s.URL()); err != nil {
		log.Fatal(err)
	}
	os.Exit(redistest.WithExamples{M: m}.Run())
}

// locked makes a client with an observer acquire and release, with work in between.
func locked(lease time.Duration, work func(), opts ...rlockotel.Option) {
	observer, err := rlockotel.New(opts...)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(lease), rlock.WithObserver(observer))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := client.NewLock("orders:17").Do(ctx, func(context.Context) error { work(); return nil }); err != nil {
		log.Fatal(err)
	}
}

// show prints the names of the spans, each once.
func show(spans *tracetest.InMemoryExporter) {
	shown := map[string]bool{}
	for _, s := range spans.GetSpans() {
		if !shown[s.Name] {
			fmt.Println(s.Name)
		}
		shown[s.Name] = true
	}
}

func ExampleNew() {
	_, err := rlockotel.New() // OpenTelemetry's global providers
	fmt.Println(err)
	// Output: <nil>
}

func ExampleWithTracerProvider() {
	spans := tracetest.NewInMemoryExporter()
	locked(30*time.Second, func() {}, rlockotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
	show(spans)
	// Output:
	// EVALSHA lock
	// rlock.acquire
	// EVALSHA unlock_to
	// rlock.release
}

func ExampleWithMeterProvider() {
	reader := metric.NewManualReader()
	locked(30*time.Second, func() {}, rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	holds(reader)
	// Output: rlock.end=released,rlock.kind=lock 1
}

// The attribute has what of a lock's name tells its use.
func ExampleWithName() {
	reader := metric.NewManualReader()
	locked(30*time.Second, func() {}, rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
		rlockotel.WithName(func(name string) string {
			use, _, _ := strings.Cut(name, ":")
			return use
		}))
	holds(reader)
	// Output: rlock.end=released,rlock.kind=lock,rlock.name=orders 1
}

func ExampleWithRenewalSpans() {
	spans := tracetest.NewInMemoryExporter()
	locked(2*time.Second, func() { time.Sleep(time.Second) }, // renewed, and looked at by the same script
		rlockotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))), rlockotel.WithRenewalSpans())
	show(spans) // spans without a call come from another goroutine
	// Unordered output:
	// PING
	// EVALSHA lock
	// rlock.acquire
	// EVALSHA renew
	// EVALSHA unlock_to
	// rlock.release
}

// holds prints how many holds have ended.
func holds(reader metric.Reader) {
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		log.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name == "rlock.hold.duration" {
			for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
				fmt.Println(p.Attributes.Encoded(attribute.DefaultEncoder()), p.Count)
			}
		}
	}
}
