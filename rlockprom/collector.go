// Package rlockprom exports to Prometheus what rlock's clients do.
//
//	metrics := rlockprom.New()
//	prometheus.MustRegister(metrics)
//	client, err := rlock.Open(ctx, url, rlock.WithObserver(metrics.Observer()))
//
// One [Collector] serves any number of clients, and adds up their numbers. docs/monitoring
// has alert rules and a dashboard.
//
//	rlock_acquires_total               kind, outcome, contended   acquires that have ended
//	rlock_acquire_duration_seconds     kind, contended            how long successful acquires took
//	rlock_hold_duration_seconds        kind, end                  how long holds lasted
//	rlock_holds, rlock_waiters         kind                       now
//	rlock_renewals_total               kind, outcome              leases: renewed, failed, lost
//	rlock_leases_lost_total            kind, reason               taken, expired, unreachable
//	rlock_wakeups_total                kind, source               message, expiry, handoff, look
//	rlock_undos_total                  kind, outcome              undone, nothing, failed
//	rlock_releases_uncertain_total     kind                       holds whose release ended without an answer
//	rlock_reconnects_total                                        connections that took another's place
//	rlock_unobserved_events_total                                 events dropped because observers were too slow
//	rlock_lease_remaining_min_seconds  kind                       the shortest time for which a hold is certain
//
// The labels' values are the words of rlock's events. A call is counted when it ends.
package rlockprom

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rlock-go/redisson/rlock"
)

// Option is a setting of a Collector.
type Option func(*settings)

type settings struct {
	label   func(name string) string
	buckets []float64
}

// WithName adds a label "name" to all metrics but the three gauges and the last three counters of
// the package's table, with what of returns for a lock's name. Each value makes a series that is
// never dropped, so of must return one of a few. Default is no such label.
func WithName(of func(name string) string) Option {
	return func(s *settings) { s.label = of }
}

// WithBuckets sets the upper bounds of both histograms, in seconds. New panics unless each
// is above the one before. Default is 0.5 ms to 5 minutes.
func WithBuckets(seconds ...float64) Option {
	return func(s *settings) { s.buckets = seconds }
}

// Collector is a prometheus.Collector. It is safe for concurrent use.
type Collector struct {
	label func(name string) string

	acquireTimes, holdTimes                  *series[prometheus.Observer]
	acquires, renewals, lost, wakeUps, undos *series[prometheus.Counter]
	holds, waiters, remaining                *prometheus.Desc
	uncertain, reconnects, unobserved        *prometheus.Desc

	mu      sync.Mutex // guards what follows
	clients map[*rlock.Client]bool
	closed  counts // of closed clients, because a counter must not fall
}

// counts are the numbers of Stats that no event reports.
type counts struct {
	uncertain              map[string]int64 // by kind
	reconnects, unobserved int64
}

func (c *counts) add(s rlock.Stats) {
	for kind, k := range s.Kinds {
		c.uncertain[kind] += k.UncertainReleases
	}
	c.reconnects += s.Reconnects
	c.unobserved += s.Unobserved
}

// New makes a Collector. Register it, and give its Observer to clients.
func New(opts ...Option) *Collector {
	s := settings{buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}
	for _, o := range opts {
		o(&s)
	}
	for i := 1; i < len(s.buckets); i++ {
		if s.buckets[i] <= s.buckets[i-1] { // else the first observation would panic
			panic(fmt.Sprintf("rlockprom: WithBuckets: %v after %v", s.buckets[i], s.buckets[i-1]))
		}
	}
	names := func(more ...string) []string {
		all := append([]string{"kind"}, more...)
		if s.label != nil {
			all = append(all, "name")
		}
		return all
	}
	histogram := func(name, help string, by ...string) *series[prometheus.Observer] {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: s.buckets}, names(by...))
		return &series[prometheus.Observer]{Collector: v, with: v.WithLabelValues, named: s.label != nil}
	}
	counter := func(name, help string, by ...string) *series[prometheus.Counter] {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, names(by...))
		return &series[prometheus.Counter]{Collector: v, with: v.WithLabelValues, named: s.label != nil}
	}
	read := func(name, help string, by ...string) *prometheus.Desc { return prometheus.NewDesc(name, help, by, nil) }
	label := s.label
	if label != nil {
		label = func(name string) string { return strings.ToValidUTF8(s.label(name), "\uFFFD") } // prometheus accepts only UTF-8
	}
	return &Collector{
		label:        label,
		acquires:     counter("rlock_acquires_total", "Acquires that have ended.", "outcome", "contended"),
		acquireTimes: histogram("rlock_acquire_duration_seconds", "How long those acquires took that acquired.", "contended"),
		holdTimes:    histogram("rlock_hold_duration_seconds", "How long holds lasted.", "end"),
		renewals:     counter("rlock_renewals_total", "Leases that were to be extended.", "outcome"),
		lost:         counter("rlock_leases_lost_total", "Holds that ended before they were released.", "reason"),
		wakeUps:      counter("rlock_wakeups_total", "Waiting calls that tried again.", "source"),
		undos:        counter("rlock_undos_total", "Acquires whose reply was lost.", "outcome"),
		holds:        read("rlock_holds", "Holds now.", "kind"),
		waiters:      read("rlock_waiters", "Calls that wait now.", "kind"),
		remaining:    read("rlock_lease_remaining_min_seconds", "The shortest time for which a hold is certain without another renewal.", "kind"),
		uncertain:    read("rlock_releases_uncertain_total", "Holds whose release ended without an answer.", "kind"),
		reconnects:   read("rlock_reconnects_total", "Connections that took the place of another one."),
		unobserved:   read("rlock_unobserved_events_total", "Events that were dropped because observers were too slow."),
		clients:      map[*rlock.Client]bool{},
		closed:       counts{uncertain: map[string]int64{}},
	}
}

// Observer returns an observer for rlock.WithObserver. Any number of clients may share it.
func (c *Collector) Observer() rlock.Observer {
	return rlock.Observer{
		Started: func(client *rlock.Client) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.clients[client] = true
		},
		Closed: func(client *rlock.Client) {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.clients, client)
			c.closed.add(client.Stats())
		},
		Acquired: func(_ context.Context, s rlock.Subject, e rlock.AcquireEvent) {
			l := c.labels(s, e.Outcome)
			l.contended = "false"
			if e.Contended {
				l.contended = "true"
			}
			ended, isNew := c.acquires.of(l)
			if isNew {
				c.begin(s)
			}
			ended.Inc()
			if e.Outcome == "acquired" {
				l.word = ""
				times, _ := c.acquireTimes.of(l)
				times.Observe(e.Wait.Seconds())
			}
		},
		Woken: func(_ context.Context, s rlock.Subject, e rlock.WakeEvent) { add(c.wakeUps, c.labels(s, e.Source), 1) },
		Ended: func(s rlock.Subject, e rlock.HoldEvent) {
			times, _ := c.holdTimes.of(c.labels(s, e.End))
			times.Observe(e.Held.Seconds())
			if e.Reason != "" {
				add(c.lost, c.labels(s, e.Reason), 1)
			}
		},
		Renewed: func(s rlock.Subject, e rlock.RenewalEvent) { add(c.renewals, c.labels(s, e.Outcome), 1) },
		Undone:  func(s rlock.Subject, e rlock.UndoEvent) { add(c.undos, c.labels(s, e.Outcome), 1) },
	}
}

// begin makes the series that alerts use, with value 0, because Prometheus sees no increase
// in a series that begins with 1.
func (c *Collector) begin(s rlock.Subject) {
	each := func(n *series[prometheus.Counter], words ...string) {
		for _, w := range words {
			add(n, c.labels(s, w), 0)
		}
	}
	each(c.lost, "taken", "expired", "unreachable")
	each(c.renewals, "renewed", "failed", "lost")
	each(c.wakeUps, "message", "expiry", "handoff", "look")
	each(c.undos, "undone", "nothing", "failed")
	for _, outcome := range []string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"} {
		l := c.labels(s, outcome)
		l.contended = "false"
		c.acquires.of(l)
	}
}

func (c *Collector) labels(s rlock.Subject, word string) labels {
	l := labels{kind: s.Kind, word: word}
	if c.label != nil {
		l.name = c.label(s.Name)
	}
	return l
}

func (c *Collector) vectors() []prometheus.Collector {
	return []prometheus.Collector{c.acquires, c.acquireTimes, c.holdTimes, c.renewals, c.lost, c.wakeUps, c.undos}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, v := range c.vectors() {
		v.Describe(to)
	}
	for _, d := range []*prometheus.Desc{c.holds, c.waiters, c.remaining, c.uncertain, c.reconnects, c.unobserved} {
		to <- d
	}
}

// Collect implements prometheus.Collector. It asks each client for its Stats.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, v := range c.vectors() {
		v.Collect(to)
	}
	c.mu.Lock()
	var clients []*rlock.Client
	for client := range c.clients {
		clients = append(clients, client)
	}
	sums := c.closed
	sums.uncertain = maps.Clone(sums.uncertain)
	c.mu.Unlock()
	all := map[string]rlock.KindStats{}
	for _, client := range clients {
		stats := client.Stats()
		sums.add(stats)
		for kind, k := range stats.Kinds {
			sum, known := all[kind]
			if !known {
				sum.LeastRemaining = rlock.NoExpiry
			}
			sum.Holds += k.Holds
			sum.Waiters += k.Waiters
			if k.LeastRemaining != rlock.NoExpiry && (sum.LeastRemaining == rlock.NoExpiry || k.LeastRemaining < sum.LeastRemaining) {
				sum.LeastRemaining = k.LeastRemaining
			}
			all[kind] = sum
		}
	}
	for kind, k := range all {
		to <- prometheus.MustNewConstMetric(c.holds, prometheus.GaugeValue, float64(k.Holds), kind)
		to <- prometheus.MustNewConstMetric(c.waiters, prometheus.GaugeValue, float64(k.Waiters), kind)
		if k.Holds > 0 && k.LeastRemaining != rlock.NoExpiry {
			to <- prometheus.MustNewConstMetric(c.remaining, prometheus.GaugeValue, k.LeastRemaining.Seconds(), kind)
		}
	}
	for kind, n := range sums.uncertain {
		to <- prometheus.MustNewConstMetric(c.uncertain, prometheus.CounterValue, float64(n), kind)
	}
	to <- prometheus.MustNewConstMetric(c.reconnects, prometheus.CounterValue, float64(sums.reconnects))
	to <- prometheus.MustNewConstMetric(c.unobserved, prometheus.CounterValue, float64(sums.unobserved))
}
