package rlockotel

import (
	"context"
	"errors"
	"iter"
	"maps"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/rlock-go/redisson/rlock"
)

// metrics are the instruments.
type metrics struct {
	acquireTimes, holdTimes, commands           metric.Float64Histogram
	renewals, failing, lost, wakeUps, undos     metric.Int64Counter
	holds, waiters                              metric.Int64ObservableUpDownCounter
	remaining, oldestHold, oldestWait           metric.Float64ObservableGauge
	acquires, uncertain, reconnects, unobserved metric.Int64ObservableCounter

	label    func(name string) string // of WithName; nil: none
	acquired sets[event]              // counts how acquires ended, which costs less than measurements

	mu      sync.Mutex // guards what follows
	clients map[*rlock.Client]bool
	ended   counts // of closed clients, because a counter must not fall
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

var (
	callBuckets    = metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300)
	commandBuckets = metric.WithExplicitBucketBoundaries(.001, .005, .01, .05, .1, .5, 1, 5, 10) // as the convention says
	seconds        = metric.WithUnit("s")
)

func newMetrics(m metric.Meter, label func(name string) string) (*metrics, error) {
	all := &metrics{label: label, clients: map[*rlock.Client]bool{}, ended: counts{uncertain: map[rlock.Kind]int64{}}}
	all.acquired.rest = keep(event{}, attribute.Bool("otel.metric.overflow", true)) // as the SDK calls it
	var errs [17]error
	all.acquireTimes, errs[0] = m.Float64Histogram("rlock.acquire.duration", seconds, callBuckets, metric.WithDescription("How long calls took that acquired."))
	all.holdTimes, errs[1] = m.Float64Histogram("rlock.hold.duration", seconds, callBuckets, metric.WithDescription("How long holds lasted that have ended, by how they ended."))
	all.commands, errs[2] = m.Float64Histogram("db.client.operation.duration", seconds, commandBuckets, metric.WithDescription("Duration of database client operations."))
	all.renewals, errs[3] = m.Int64Counter("rlock.renewals", metric.WithUnit("{lease}"), metric.WithDescription("Renewals of leases, by outcome. A failed one is tried again."))
	all.lost, errs[4] = m.Int64Counter("rlock.leases.lost", metric.WithUnit("{hold}"), metric.WithDescription("Holds that ended before they were released, by reason. Others may have been inside."))
	all.wakeUps, errs[5] = m.Int64Counter("rlock.wakeups", metric.WithUnit("{wakeup}"), metric.WithDescription("How often a waiting call tried again, by what woke it."))
	all.undos, errs[6] = m.Int64Counter("rlock.undos", metric.WithUnit("{acquire}"), metric.WithDescription("Acquires whose reply was lost, by how they were taken back."))
	all.holds, errs[7] = m.Int64ObservableUpDownCounter("rlock.holds", metric.WithUnit("{hold}"), metric.WithDescription("How many locks and permits the clients hold now."))
	all.waiters, errs[8] = m.Int64ObservableUpDownCounter("rlock.waiters", metric.WithUnit("{call}"), metric.WithDescription("How many calls wait to acquire now."))
	all.remaining, errs[9] = m.Float64ObservableGauge("rlock.lease.remaining.min", seconds, metric.WithDescription("The shortest time for which any hold stays valid without another renewal."))
	all.acquires, errs[10] = m.Int64ObservableCounter("rlock.acquires", metric.WithUnit("{acquire}"), metric.WithDescription("Calls to acquire that have ended, by outcome."))
	all.uncertain, errs[11] = m.Int64ObservableCounter("rlock.releases.uncertain", metric.WithUnit("{release}"), metric.WithDescription("Releases without an answer. The lock may be held until its lease ends."))
	all.reconnects, errs[12] = m.Int64ObservableCounter("rlock.reconnects", metric.WithUnit("{connection}"), metric.WithDescription("Connections that replaced another one."))
	all.unobserved, errs[13] = m.Int64ObservableCounter("rlock.unobserved.events", metric.WithUnit("{event}"), metric.WithDescription("Events that were dropped because an observer was too slow."))
	all.oldestHold, errs[14] = m.Float64ObservableGauge("rlock.oldest.hold", seconds, metric.WithDescription("How long the oldest hold has lasted so far."))
	all.oldestWait, errs[15] = m.Float64ObservableGauge("rlock.oldest.wait", seconds, metric.WithDescription("How long the oldest of the calls that wait has waited so far."))
	all.failing, errs[16] = m.Int64Counter("rlock.leases.failing", metric.WithUnit("{lease}"), metric.WithDescription("Leases whose renewals began to fail, or succeed again, by that change."))
	err := errors.Join(errs[:]...)
	if err == nil {
		_, err = m.RegisterCallback(all.collect, all.holds, all.waiters, all.remaining, all.oldestHold, all.oldestWait, all.uncertain, all.reconnects, all.unobserved, all.acquires)
	}
	return all, err
}

// started adds a client to the gauges, until it is closed.
func (m *metrics) started(c *rlock.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients[c] = true
}

func (m *metrics) closed(c *rlock.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clients, c)
	m.ended.add(c.Stats())
}

// collect is called by the meter. It adds up all clients.
func (m *metrics) collect(_ context.Context, to metric.Observer) error {
	m.mu.Lock()
	var clients []*rlock.Client
	for c := range m.clients {
		clients = append(clients, c)
	}
	sums := m.ended
	sums.uncertain = maps.Clone(sums.uncertain)
	m.mu.Unlock()
	holds, waiters, least := map[rlock.Kind]int64{}, map[rlock.Kind]int64{}, map[rlock.Kind]float64{}
	oldest := map[event]rlock.Age{}
	for _, c := range clients {
		stats := c.Stats()
		sums.add(stats)
		for kind, k := range stats.Kinds {
			holds[kind] += int64(k.Holds)
			waiters[kind] += int64(k.Waiters)
			if left := k.LeastRemaining; k.Holds > 0 && left != rlock.NoExpiry {
				if known, ok := least[kind]; !ok || left.Seconds() < known {
					least[kind] = left.Seconds()
				}
			}
		}
		for of, age := range m.ages(c, stats) {
			known := oldest[of]
			oldest[of] = rlock.Age{Hold: max(known.Hold, age.Hold), Wait: max(known.Wait, age.Wait)}
		}
	}
	for of, age := range oldest {
		with := metric.WithAttributes(attributesOf(of)...)
		if age.Hold > 0 {
			to.ObserveFloat64(m.oldestHold, age.Hold.Seconds(), with)
		}
		if age.Wait > 0 {
			to.ObserveFloat64(m.oldestWait, age.Wait.Seconds(), with)
		}
	}
	for kind := range holds {
		of := metric.WithAttributes(attribute.String("rlock.kind", string(kind)))
		if held(kind) {
			to.ObserveInt64(m.holds, holds[kind], of)
		}
		to.ObserveInt64(m.waiters, waiters[kind], of)
		if left, ok := least[kind]; ok {
			to.ObserveFloat64(m.remaining, left, of)
		}
	}
	for kind, n := range sums.uncertain {
		if held(kind) {
			to.ObserveInt64(m.uncertain, n, metric.WithAttributes(attribute.String("rlock.kind", string(kind))))
		}
	}
	m.acquired.observe(to, m.acquires)
	to.ObserveInt64(m.reconnects, sums.reconnects)
	to.ObserveInt64(m.unobserved, sums.unobserved)
	return nil
}

// held tells whether a client holds what it acquires of a kind. Nobody holds a latch or the permits of
// a Semaphore.
func held(k rlock.Kind) bool { return k != rlock.KindSemaphore && k != rlock.KindLatch }

// ages yields a client's ages, by name if names are shown. Events may come more than once.
func (m *metrics) ages(c *rlock.Client, stats rlock.Stats) iter.Seq2[event, rlock.Age] {
	return func(yield func(event, rlock.Age) bool) {
		if m.label == nil {
			for kind, k := range stats.Kinds {
				if !yield(event{kind: string(kind)}, k.Oldest) {
					return
				}
			}
			return
		}
		for s, age := range c.Ages() {
			if !yield(event{kind: string(s.Kind), name: text(m.label(s.Name))}, age) {
				return
			}
		}
	}
}
