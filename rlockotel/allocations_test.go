//go:build !race

package rlockotel_test

import (
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rlock-go/redisson/internal/testkit/outcomes"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockotel"
)

// docs/operations.md promises this for a pair. With -race a sync.Pool drops a quarter of what it gets.
func TestAllocationsOfAPair(t *testing.T) {
	for _, c := range []struct {
		with string
		opts []rlockotel.Option
		most float64
	}{
		{"metrics", []rlockotel.Option{rlockotel.WithTracerProvider(noop.NewTracerProvider())}, 0},
		{"metrics, and spans that nobody takes", nil, 6},
	} {
		meters := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
		observer, err := rlockotel.New(append(c.opts, rlockotel.WithMeterProvider(meters))...)
		if err != nil {
			t.Fatal(err)
		}
		more := outcomes.MoreAllocations(t, rlock.WithObserver(observer))
		t.Logf("%s: %v allocations more", c.with, more)
		if more > c.most {
			t.Errorf("%s: %v allocations more", c.with, more)
		}
	}
}
