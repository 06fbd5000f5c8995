package rlockprom_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rlock-go/redisson/internal/outcomes"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockprom"
)

// scrape is a GET of what is served, as Prometheus would send it.
func scrape(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", resp.Status, err, text)
	}
	return string(text)
}

// value is that of a series, by a part of its name and labels in order; -1: there is none.
func value(t *testing.T, text, series string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A lock's name may be any bytes, a label may not.
func TestLabelIsText(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New(rlockprom.WithName(func(name string) string { return name }))
	registry.MustRegister(metrics)
	served := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer served.Close()
	metrics.Observer().Ended(rlock.Subject{Name: "a\xff", Kind: "lock"}, rlock.HoldEvent{End: "released"})
	if n := value(t, scrape(t, served.URL), "rlock_hold_duration_seconds_count{end=\"released\",kind=\"lock\",name=\"a\uFFFD\"}"); n != 1 {
		t.Errorf("%v holds have ended", n)
	}
}

func TestBucketsThatDoNotRiseAreRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took them")
		}
	}()
	rlockprom.New(rlockprom.WithBuckets(2, 1))
}

func TestScrapeHasEachMetricAndOutcome(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New()
	registry.MustRegister(metrics)
	served := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer served.Close()
	client := outcomes.Make(t, t.Context(), rlock.WithObserver(metrics.Observer()))

	before := scrape(t, served.URL)
	for _, gauge := range []string{"rlock_holds", "rlock_lease_remaining_min_seconds"} {
		if got := value(t, before, gauge+`{kind="lock"}`); got <= 0 || got > 2 {
			t.Errorf("%s: %v", gauge, got)
		}
	}
	if got := value(t, before, `rlock_waiters{kind="lock"}`); got != 1 { // now, not when it has waited
		t.Errorf("%v wait", got)
	}
	if err := client.Close(); err != nil { // all has been counted
		t.Fatal(err)
	}
	text := scrape(t, served.URL)
	t.Log(text)
	want := []string{}
	add := func(format string, words []string) {
		for _, w := range words {
			want = append(want, fmt.Sprintf(format, w))
		}
	}
	add(`rlock_hold_duration_seconds_count{end="%s",kind="lock"}`, outcomes.Ends)
	add(`rlock_renewals_total{kind="lock",outcome="%s"}`, outcomes.Renewals)
	add(`rlock_leases_lost_total{kind="lock",reason="%s"}`, outcomes.Reasons)
	add(`rlock_wakeups_total{kind="lock",source="%s"}`, outcomes.Sources)
	add(`rlock_undos_total{kind="lock",outcome="%s"}`, outcomes.Undos)
	for _, series := range want {
		if value(t, text, series) < 1 {
			t.Errorf("no %s", series)
		}
	}
	for _, outcome := range outcomes.Acquires {
		n := 0.0
		for _, contended := range []string{"true", "false"} {
			n += max(0, value(t, text, fmt.Sprintf(`rlock_acquire_duration_seconds_count{contended="%s",kind="lock",outcome="%s"}`, contended, outcome)))
		}
		if n < 1 {
			t.Errorf("no acquire has ended as %s", outcome)
		}
	}
	if got := value(t, text, `rlock_holds{kind="lock"}`); got != -1 {
		t.Errorf("a closed client has %v holds", got)
	}
}

// What docs/monitoring says of a pair.
func TestAllocationsOfAPair(t *testing.T) {
	pair := func(opts ...rlock.Option) float64 {
		client, err := rlock.Open(t.Context(), os.Getenv("REDIS_URL"), opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		lock := client.NewLock("pair")
		return testing.AllocsPerRun(500, func() {
			hold, err := lock.Lock(context.Background())
			if err == nil {
				err = hold.Unlock(context.Background())
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if more := pair(rlock.WithObserver(rlockprom.New().Observer())) - pair(); more > 0 {
		t.Errorf("%v allocations more", more)
	}
}
