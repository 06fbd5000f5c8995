package rlockprom_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rlock-go/redisson/internal/outcomes"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockprom"
)

// scrape sends a GET, as Prometheus would, and returns the reply.
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

// value returns the value of a series, -1 without one. series has its name and labels in order.
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
	if got := value(t, before, `rlock_waiters{kind="lock"}`); got != 1 { // while it waits, not afterwards
		t.Errorf("%v wait", got)
	}
	if err := client.Close(); err != nil { // then all events have been counted
		t.Fatal(err)
	}
	text := scrape(t, served.URL)
	t.Log(text)
	outcomes.Told(t, func(metric, unit, label, word string) bool {
		name := "rlock_" + strings.ReplaceAll(metric, ".", "_") + map[bool]string{true: "_seconds_count{", false: "_total{"}[unit == "s"]
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, name) && strings.Contains(line, label+`="`+word+`"`) && strings.Contains(line, `kind="lock"`) && !strings.HasSuffix(line, " 0\n") {
				return true
			}
		}
		return false
	})
	if got := value(t, text, `rlock_holds{kind="lock"}`); got != -1 {
		t.Errorf("a closed client has %v holds", got)
	}
}

// Counts without an event come from Stats, and stay when the client is closed.
func TestCountsOfStatsOutliveTheClient(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New()
	registry.MustRegister(metrics)
	served := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer served.Close()
	s := redistest.Start(t)
	client, err := rlock.Open(t.Context(), s.URL(), rlock.WithObserver(metrics.Observer()), rlock.WithCommandTimeout(300*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("orders").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Pause()
	if err := hold.Unlock(t.Context()); !errors.Is(err, rlock.ErrUncertain) {
		t.Fatalf("unlock: %v", err)
	}
	s.Resume()
	if _, err := client.NewLock("orders").IsLocked(t.Context()); err != nil { // on another connection
		t.Fatal(err)
	}
	for _, when := range []string{"open", "closed"} {
		text := scrape(t, served.URL)
		if n := value(t, text, `rlock_releases_uncertain_total{kind="lock"}`); n != 1 {
			t.Errorf("%s: %v uncertain releases", when, n)
		}
		if n := value(t, text, "rlock_reconnects_total"); n < 1 {
			t.Errorf("%s: %v reconnects", when, n)
		}
		if n := value(t, text, "rlock_unobserved_events_total"); n != 0 {
			t.Errorf("%s: %v unobserved events", when, n)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An outcome that did not occur has a counter, but no histogram.
func TestSeriesAreFew(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New()
	registry.MustRegister(metrics)
	served := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer served.Close()
	client, err := rlock.Open(t.Context(), redistest.Start(t).URL(), rlock.WithObserver(metrics.Observer()))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*rlock.Lock{client.NewLock("a"), client.NewFairLock("b"), client.NewFencedLock("c")} {
		if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil { // then all events have been counted
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(scrape(t, served.URL)) {
		if strings.HasPrefix(line, "rlock_") {
			n++
		}
	}
	if n > 200 {
		t.Errorf("%d series after three kinds", n)
	}
	t.Logf("%d series", n)
}
