package rlockprom_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockprom"
)

func TestMain(m *testing.M) {
	s := redistest.Start(redistest.Examples)
	if err := os.Setenv("REDIS_URL", s.URL()); err != nil {
		log.Fatal(err)
	}
	os.Exit(redistest.WithExamples{M: m}.Run())
}

// lines prints the lines of a scrape that begin with begin.
func lines(registry *prometheus.Registry, begin string) {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, begin) {
			fmt.Print(line)
		}
	}
}

// locked makes a client acquire and release once.
func locked(metrics *rlockprom.Collector, then func()) {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithObserver(metrics.Observer()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := client.NewLock("orders:17").Do(ctx, func(context.Context) error { then(); return nil }); err != nil {
		log.Fatal(err)
	}
}

func Example() {
	metrics := rlockprom.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	locked(metrics, func() { lines(registry, "rlock_holds") })
	lines(registry, `rlock_acquires_total{contended="false",kind="lock",outcome="acquired"`)
	// Output:
	// rlock_holds{kind="lock"} 1
	// rlock_acquires_total{contended="false",kind="lock",outcome="acquired"} 1
}

func ExampleNew() {
	fmt.Println(prometheus.NewRegistry().Register(rlockprom.New()))
	// Output: <nil>
}

// The label is the first part of a lock's name, so that there are few of them.
func ExampleWithName() {
	ctx, url, registry := context.Background(), os.Getenv("REDIS_URL"), prometheus.NewRegistry()
	metrics := rlockprom.New(rlockprom.WithName(func(lock string) string {
		use, _, _ := strings.Cut(lock, ":")
		return use // "leader" for the lock "leader:feed"
	}))
	registry.MustRegister(metrics) // or prometheus.MustRegister
	client, err := rlock.Open(ctx, url, rlock.WithObserver(metrics.Observer()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	feed := client.NewLock("leader:feed")
	if err := feed.Do(ctx, func(context.Context) error { return nil }); err != nil {
		log.Fatal(err)
	}
	lines(registry, "rlock_hold_duration_seconds_count")
	// Output: rlock_hold_duration_seconds_count{end="released",kind="lock",name="leader"} 1
}

func ExampleWithBuckets() {
	metrics := rlockprom.New(rlockprom.WithBuckets(60))
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	locked(metrics, func() {})
	lines(registry, `rlock_acquire_duration_seconds_bucket{contended="false",kind="lock"`)
	// Output:
	// rlock_acquire_duration_seconds_bucket{contended="false",kind="lock",le="60"} 1
	// rlock_acquire_duration_seconds_bucket{contended="false",kind="lock",le="+Inf"} 1
}

func ExampleCollector_Observer() {
	metrics := rlockprom.New()
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"), rlock.WithObserver(metrics.Observer()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Close())
	// Output: <nil>
}

func ExampleCollector_Describe() {
	all := make(chan *prometheus.Desc, 100)
	rlockprom.New().Describe(all)
	fmt.Println(len(all))
	// Output: 17
}

func ExampleCollector_Collect() {
	metrics := rlockprom.New()
	all := make(chan prometheus.Metric, 100)
	locked(metrics, func() { metrics.Collect(all) })
	fmt.Println(len(all) > 0)
	// Output: true
}

func observed(ctx context.Context, url string) (*rlock.Client, error) {
	metrics := rlockprom.New()
	prometheus.MustRegister(metrics)
	return rlock.Open(ctx, url, rlock.WithObserver(metrics.Observer()))
}

// The page's own lines.
func ExampleCollector() {
	client, err := observed(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Close())
	// Output: <nil>
}
