// Package rlockprom exports to Prometheus what rlock's clients do.
//
//	metrics := rlockprom.New()
//	prometheus.MustRegister(metrics)
//	client, err := rlock.Open(ctx, url, rlock.WithObserver(metrics.Observer()))
//
// One [Collector] serves any number of clients, and adds up their numbers. docs/operations.md
// has alert rules and a dashboard.
//
//	rlock_acquires_total               kind, outcome, contended   acquires that have ended
//	rlock_acquire_duration_seconds     kind, contended            how long successful acquires took
//	rlock_command_duration_seconds     command, script, outcome   how long commands took: answered, refused, lost
//	rlock_hold_duration_seconds        kind, end                  how long holds lasted
//	rlock_holds, rlock_waiters         kind                       now
//	rlock_renewals_total               kind, outcome              leases: renewed, failed, lost
//	rlock_leases_failing_total         kind, change               leases whose renewals began to fail, or no longer do: begun, ended
//	rlock_leases_lost_total            kind, reason               taken, expired, unreachable
//	rlock_wakeups_total                kind, source               message, expiry, handoff, look
//	rlock_undos_total                  kind, outcome              undone, nothing, failed
//	rlock_releases_uncertain_total     kind                       holds whose release ended without an answer
//	rlock_reconnects_total                                        connections that took another's place
//	rlock_unobserved_events_total                                 events dropped because observers were too slow
//	rlock_lease_remaining_min_seconds  kind                       the shortest time for which a hold is certain
//	rlock_oldest_hold_seconds          kind                       the age of the oldest hold, if there is one
//	rlock_oldest_wait_seconds          kind                       the age of the oldest call that waits
//
// The labels' values are the words of rlock's events. Nobody holds a latch or the permits of a
// [rlock.Semaphore], so these kinds have no series of holds, leases and releases. A call is counted
// when it ends, so the counters miss a hold or a wait that never ends. Its age is in the last two
// series.
package rlockprom

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"

	"github.com/gomodule/redigo/redis"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rlock-go/redisson/rlock"
)

// Option is a setting of a Collector.
type Option func(*settings)

type settings struct {
	label   func(name string) string
	buckets []float64
}

// WithName adds a label "name", whose value is label(name) of a lock's name. These have no such
// label: rlock_holds, rlock_waiters, rlock_lease_remaining_min_seconds, the commands' durations,
// and the counters of releases, reconnects and dropped events. Each value makes a series that is
// never dropped, so label must return one of a few values. Default is no such label.
func WithName(label func(name string) string) Option {
	return func(s *settings) {
		if label == nil {
			panic("rlockprom: WithName: a nil function")
		}
		s.label = label
	}
}

// WithBuckets sets the upper bounds of the histograms of acquires and of holds, in seconds. New panics unless each
// is above the one before. Default is 0.5 ms to 5 minutes.
func WithBuckets(seconds ...float64) Option {
	return func(s *settings) { s.buckets = seconds }
}

// Collector is a prometheus.Collector. It is safe for concurrent use.
type Collector struct {
	label func(name string) string

	acquireTimes, holdTimes                  *histogram
	commands                                 *series[sent, prometheus.Observer]
	acquires, renewals, lost, wakeUps, undos *counter
	failing                                  *counter
	holds, waiters, remaining                *prometheus.Desc
	oldestHold, oldestWait                   *prometheus.Desc
	uncertain, reconnects, unobserved        *prometheus.Desc

	mu      sync.Mutex // guards what follows
	clients map[*rlock.Client]bool
	closed  counts // of closed clients, because a counter must not fall
}

// counts are the numbers of Stats that no event reports.
type counts struct {
	uncertain              map[rlock.Kind]int64
	reconnects, unobserved int64
}

func (c *counts) add(s rlock.Stats) {
	for kind, k := range s.Kinds {
		c.uncertain[kind] += k.UncertainReleases
	}
	c.reconnects += s.Reconnects
	c.unobserved += s.Unobserved
}

// New makes a Collector. Register it, and give its Observer to clients. It panics if an option or
// its function is nil.
func New(opts ...Option) *Collector {
	s := settings{buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}
	for _, o := range opts {
		if o == nil {
			panic("rlockprom: a nil Option")
		}
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
	times := func(name, help string, by ...string) *histogram {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: s.buckets}, names(by...))
		return &histogram{Collector: v, with: func(l labels) prometheus.Observer { return v.WithLabelValues(l.values(s.label != nil)...) }}
	}
	count := func(name, help string, by ...string) *counter {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, names(by...))
		return &counter{Collector: v, with: func(l labels) prometheus.Counter { return v.WithLabelValues(l.values(s.label != nil)...) }}
	}
	commands := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "rlock_command_duration_seconds", Help: "How long commands took, from before they were written to their reply or the end of their connection.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10},
	}, []string{"command", "script", "outcome"})
	read := func(name, help string, by ...string) *prometheus.Desc { return prometheus.NewDesc(name, help, by, nil) }
	label := s.label
	if label != nil {
		label = func(name string) string { return strings.ToValidUTF8(s.label(name), "\uFFFD") } // prometheus accepts only UTF-8
	}
	return &Collector{
		label:        label,
		acquires:     count("rlock_acquires_total", "Calls to acquire that have ended, by outcome.", "outcome", "contended"),
		acquireTimes: times("rlock_acquire_duration_seconds", "How long calls took that acquired.", "contended"),
		holdTimes:    times("rlock_hold_duration_seconds", "How long holds lasted that have ended, by how they ended.", "end"),
		commands:     &series[sent, prometheus.Observer]{Collector: commands, with: func(l sent) prometheus.Observer { return commands.WithLabelValues(l.command, l.script, l.outcome) }},
		renewals:     count("rlock_renewals_total", "Renewals of leases, by outcome. A failed one is tried again.", "outcome"),
		failing:      count("rlock_leases_failing_total", "Leases whose renewals began to fail, or succeed again, by that change.", "change"),
		lost:         count("rlock_leases_lost_total", "Holds that ended before they were released, by reason. Others may have been inside.", "reason"),
		wakeUps:      count("rlock_wakeups_total", "How often a waiting call tried again, by what woke it.", "source"),
		undos:        count("rlock_undos_total", "Acquires whose reply was lost, by how they were taken back.", "outcome"),
		holds:        read("rlock_holds", "How many locks and permits the clients hold now.", "kind"),
		waiters:      read("rlock_waiters", "How many calls wait to acquire now.", "kind"),
		remaining:    read("rlock_lease_remaining_min_seconds", "The shortest time for which any hold stays valid without another renewal.", "kind"),
		oldestHold:   read("rlock_oldest_hold_seconds", "How long the oldest hold has lasted so far.", names()...),
		oldestWait:   read("rlock_oldest_wait_seconds", "How long the oldest of the calls that wait has waited so far.", names()...),
		uncertain:    read("rlock_releases_uncertain_total", "Releases without an answer. The lock may be held until its lease ends.", "kind"),
		reconnects:   read("rlock_reconnects_total", "Connections that replaced another one."),
		unobserved:   read("rlock_unobserved_events_total", "Events that were dropped because an observer was too slow."),
		clients:      map[*rlock.Client]bool{},
		closed:       counts{uncertain: map[rlock.Kind]int64{}},
	}
}

// Observer returns an observer for rlock.WithObserver. Any number of clients may share it. More
// than half of its cost is that of timing commands, which setting its Command to nil saves.
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
			l := c.labels(s, string(e.Outcome))
			l.contended = "false"
			if e.Contended {
				l.contended = "true"
			}
			ended, isNew := c.acquires.of(l)
			if isNew {
				c.begin(s)
			}
			ended.Inc()
			if e.Outcome == rlock.OutcomeAcquired {
				l.word = ""
				times, _ := c.acquireTimes.of(l)
				times.Observe(e.Wait.Seconds())
			}
		},
		Woken: func(_ context.Context, s rlock.Subject, e rlock.WakeEvent) {
			add(c.wakeUps, c.labels(s, string(e.Source)), 1)
		},
		Ended: func(s rlock.Subject, e rlock.HoldEvent) {
			times, _ := c.holdTimes.of(c.labels(s, string(e.End)))
			times.Observe(e.Held.Seconds())
			if e.Reason != "" {
				add(c.lost, c.labels(s, string(e.Reason)), 1)
			}
		},
		Renewed: func(s rlock.Subject, e rlock.RenewalEvent) { add(c.renewals, c.labels(s, string(e.Outcome)), 1) },
		Failing: func(s rlock.Subject, e rlock.FailingEvent) {
			change := "begun"
			if e.Err == nil {
				change = "ended"
			}
			add(c.failing, c.labels(s, change), 1)
		},
		Command: func(_ context.Context, e rlock.CommandEvent) {
			times, _ := c.commands.of(sent{e.Name, e.Script, outcomeOf(e.Err)})
			times.Observe(e.Duration.Seconds())
		},
		Undone: func(s rlock.Subject, e rlock.UndoEvent) { add(c.undos, c.labels(s, string(e.Outcome)), 1) },
	}
}

// outcomeOf is how a command with this error ended.
func outcomeOf(err error) string {
	if err == nil {
		return "answered"
	}
	if _, refused := err.(redis.Error); refused {
		return "refused"
	}
	return "lost"
}

// begin makes the series that alerts use, with value 0, because Prometheus sees no increase
// in a series that begins with 1.
func (c *Collector) begin(s rlock.Subject) {
	each := func(n *counter, words ...string) {
		for _, w := range words {
			add(n, c.labels(s, w), 0)
		}
	}
	if held(s.Kind) {
		each(c.lost, "taken", "expired", "unreachable")
		each(c.renewals, "renewed", "failed", "lost")
		each(c.failing, "begun", "ended")
	}
	each(c.wakeUps, "message", "expiry", "handoff", "look")
	if s.Kind != rlock.KindLatch { // a wait for a latch takes nothing
		each(c.undos, "undone", "nothing", "failed")
	}
	for _, outcome := range []string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"} {
		l := c.labels(s, outcome)
		l.contended = "false"
		c.acquires.of(l)
	}
}

// held tells whether a client holds what it acquires of a kind. Nobody holds a latch or the permits of
// a Semaphore, so that 0 holds or losses of them would say nothing.
func held(k rlock.Kind) bool { return k != rlock.KindSemaphore && k != rlock.KindLatch }

func (c *Collector) labels(s rlock.Subject, word string) labels {
	l := labels{kind: string(s.Kind), word: word}
	if c.label != nil {
		l.name = c.label(s.Name)
	}
	return l
}

func (c *Collector) vectors() []prometheus.Collector {
	return []prometheus.Collector{c.acquires, c.acquireTimes, c.holdTimes, c.commands, c.renewals, c.failing, c.lost, c.wakeUps, c.undos}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, v := range c.vectors() {
		v.Describe(to)
	}
	for _, d := range []*prometheus.Desc{c.holds, c.waiters, c.remaining, c.oldestHold, c.oldestWait, c.uncertain, c.reconnects, c.unobserved} {
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
	all, oldest := map[rlock.Kind]rlock.KindStats{}, map[labels]rlock.Age{}
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
		for l, age := range c.ages(client, stats) {
			of := oldest[l]
			oldest[l] = rlock.Age{Hold: max(of.Hold, age.Hold), Wait: max(of.Wait, age.Wait)}
		}
	}
	for l, age := range oldest {
		with := []string{l.kind, l.name}
		if c.label == nil {
			with = with[:1]
		}
		if age.Hold > 0 {
			to <- prometheus.MustNewConstMetric(c.oldestHold, prometheus.GaugeValue, age.Hold.Seconds(), with...)
		}
		if age.Wait > 0 {
			to <- prometheus.MustNewConstMetric(c.oldestWait, prometheus.GaugeValue, age.Wait.Seconds(), with...)
		}
	}
	for kind, k := range all {
		if held(kind) {
			to <- prometheus.MustNewConstMetric(c.holds, prometheus.GaugeValue, float64(k.Holds), string(kind))
		}
		to <- prometheus.MustNewConstMetric(c.waiters, prometheus.GaugeValue, float64(k.Waiters), string(kind))
		if k.Holds > 0 && k.LeastRemaining != rlock.NoExpiry {
			to <- prometheus.MustNewConstMetric(c.remaining, prometheus.GaugeValue, k.LeastRemaining.Seconds(), string(kind))
		}
	}
	for kind, n := range sums.uncertain {
		if !held(kind) {
			continue
		}
		to <- prometheus.MustNewConstMetric(c.uncertain, prometheus.CounterValue, float64(n), string(kind))
	}
	to <- prometheus.MustNewConstMetric(c.reconnects, prometheus.CounterValue, float64(sums.reconnects))
	to <- prometheus.MustNewConstMetric(c.unobserved, prometheus.CounterValue, float64(sums.unobserved))
}

// ages yields a client's ages, by name if names are shown. Labels may come more than once.
func (c *Collector) ages(client *rlock.Client, stats rlock.Stats) iter.Seq2[labels, rlock.Age] {
	return func(yield func(labels, rlock.Age) bool) {
		if c.label == nil {
			for kind, k := range stats.Kinds {
				if !yield(labels{kind: string(kind)}, k.Oldest) {
					return
				}
			}
			return
		}
		for s, age := range client.Ages() {
			if !yield(c.labels(s, ""), age) {
				return
			}
		}
	}
}
