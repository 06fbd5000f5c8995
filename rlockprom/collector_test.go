package rlockprom_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rlock-go/redisson/internal/testkit/outcomes"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
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

func TestOptionsThatCanNotBeUsedAreRefused(t *testing.T) {
	for what, option := range map[string]rlockprom.Option{
		"buckets that do not rise": rlockprom.WithBuckets(2, 1), "a nil option": nil, "a nil function": rlockprom.WithName(nil),
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "rlockprom: ") {
					t.Errorf("New panicked with %q", said)
				}
			}()
			rlockprom.New(option)
		})
	}
}

func TestScrapeHasEachMetricAndOutcome(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New()
	registry.MustRegister(metrics)
	served := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer served.Close()
	_, end := outcomes.Make(t, t.Context(), rlock.WithObserver(metrics.Observer()))

	before := scrape(t, served.URL)
	for _, gauge := range []string{"rlock_holds", "rlock_lease_remaining_min_seconds"} {
		if got := value(t, before, gauge+`{kind="lock"}`); got <= 0 || got > 2 {
			t.Errorf("%s: %v", gauge, got)
		}
	}
	for _, gauge := range []string{"rlock_oldest_hold_seconds", "rlock_oldest_wait_seconds"} {
		if got := value(t, before, gauge+`{kind="lock"}`); got <= 0 {
			t.Errorf("%s: %v", gauge, got)
		}
	}
	if got := value(t, before, `rlock_waiters{kind="lock"}`); got != 1 { // while it waits, not afterwards
		t.Errorf("%v wait", got)
	}
	end() // then all events have been counted
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
	for _, command := range []string{
		`command="EVALSHA",outcome="answered",script="lock"`, `command="EVALSHA",outcome="refused",script="lock"`,
		`command="EVALSHA",outcome="lost",script="lock"`, `command="EVALSHA",outcome="answered",script="renew"`, `command="PING",outcome="answered",script=""`,
	} {
		if got := value(t, text, "rlock_command_duration_seconds_count{"+command+"}"); got < 1 {
			t.Errorf("%s: %v", command, got)
		}
	}
	if got := value(t, text, `rlock_holds{kind="lock"}`); got != -1 {
		t.Errorf("a closed client has %v holds", got)
	}
	if got := value(t, text, `rlock_oldest_hold_seconds{kind="lock"}`); got != -1 {
		t.Errorf("a closed client has held for %v", got)
	}
}

// Holds and waits of all clients that get the same label are one series, with the oldest.
func TestOldestHoldAndWaitByName(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New(rlockprom.WithName(func(name string) string {
		if strings.HasPrefix(name, "leader") {
			return "leader"
		}
		return "other"
	}))
	registry.MustRegister(metrics)
	served := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer served.Close()
	url := redistest.Start(t).URL()
	var clients [2]*rlock.Client
	for i := range clients {
		c, err := rlock.Open(t.Context(), url, rlock.WithObserver(metrics.Observer()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients[i] = c
	}
	hold := func(c *rlock.Client, name string) {
		t.Helper()
		h, err := c.NewLock(name).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Unlock(context.Background()) })
	}
	hold(clients[0], "leader-a") // the oldest
	hold(clients[1], "leader-b")
	hold(clients[0], "leader-c")
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() { defer close(waited); _, _ = clients[1].NewLock("leader-a").Lock(ctx) }()
	defer func() { cancel(); <-waited }()
	outcomes.Waits(t, clients[1])

	before := clients[0].Stats().Oldest.Hold
	text := scrape(t, served.URL)
	after := clients[0].Stats().Oldest.Hold
	const held, waits = `rlock_oldest_hold_seconds{kind="lock",name="leader"}`, `rlock_oldest_wait_seconds{kind="lock",name="leader"}`
	if v := value(t, text, held); v < before.Seconds() || v > after.Seconds() {
		t.Errorf("the oldest hold has %v s, not between %v and %v", v, before, after)
	}
	if v := value(t, text, waits); v <= 0 || v > value(t, text, held) {
		t.Errorf("the oldest wait has %v s", v)
	}
	if strings.Contains(text, `name="other"`) {
		t.Errorf("a name without a hold has a series:\n%s", text)
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

// A kind has the series that it can have, with 0 if nothing of the sort has happened, and no kind that was not acquired has any:
// nobody holds a latch or a Semaphore's permits, and a wait for a latch takes nothing.
func TestKindHasOnlyTheSeriesThatItCanHave(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := rlockprom.New()
	registry.MustRegister(metrics)
	client, err := rlock.Open(t.Context(), redistest.Start(t).URL(), rlock.WithObserver(metrics.Observer()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	latch, seats, permits := client.NewCountDownLatch("gate"), client.NewSemaphore("seats"), client.NewPermitSemaphore("slots")
	if _, err := latch.TrySetCount(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, set := range []func(context.Context, int, ...rlock.SetOption) (bool, error){seats.TrySetPermits, permits.TrySetPermits} {
		if _, err := set(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	of := func() map[string][]string { // the metrics that have series, by kind
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string][]string{}
		for _, family := range all {
			for _, m := range family.Metric {
				for _, l := range m.Label {
					if l.GetName() == "kind" && !slices.Contains(found[l.GetValue()], family.GetName()) {
						found[l.GetValue()] = append(found[l.GetValue()], family.GetName())
					}
				}
			}
		}
		return found
	}
	if found := of(); len(found) > 0 {
		t.Errorf("before any wait: %v", found)
	}
	if err := latch.AwaitFor(t.Context(), 0); !errors.Is(err, rlock.ErrNotOpen) {
		t.Fatal(err)
	}
	if err := seats.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	slot, err := permits.Acquire(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer slot.Release(context.Background())
	waits := []string{"rlock_acquires_total", "rlock_waiters", "rlock_wakeups_total"}
	taking := append([]string{"rlock_acquire_duration_seconds", "rlock_undos_total"}, waits...)
	want := map[string][]string{
		"latch": waits, "semaphore": taking,
		"permits": append([]string{"rlock_holds", "rlock_lease_remaining_min_seconds", "rlock_leases_failing_total", "rlock_leases_lost_total", "rlock_oldest_hold_seconds",
			"rlock_releases_uncertain_total", "rlock_renewals_total"}, taking...),
	}
	for kind := range want {
		slices.Sort(want[kind])
	}
	// Events are told a moment later.
	redistest.Becomes(t, "the series are those", func() bool { return maps.EqualFunc(of(), want, slices.Equal) }, func() string { return fmt.Sprint(of()) })
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
	if n > 300 {
		t.Errorf("%d series after three kinds", n)
	}
	t.Logf("%d series", n)
}
