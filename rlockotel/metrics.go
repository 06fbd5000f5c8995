package rlockotel

import (
	"context"
	"errors"
	"maps"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/rlock-go/redisson/rlock"
)

// metrics are the instruments.
type metrics struct {
	acquireTimes, holdTimes, commands           metric.Float64Histogram
	renewals, lost, wakeUps, undos              metric.Int64Counter
	holds, waiters                              metric.Int64ObservableUpDownCounter
	remaining                                   metric.Float64ObservableGauge
	acquires, uncertain, reconnects, unobserved metric.Int64ObservableCounter

	acquired sets[event] // counts how acquires ended, which costs less than measurements

	mu      sync.Mutex // guards what follows
	clients map[*rlock.Client]bool
	ended   counts // of closed clients, because a counter must not fall
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

var (
	callBuckets    = metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300)
	commandBuckets = metric.WithExplicitBucketBoundaries(.001, .005, .01, .05, .1, .5, 1, 5, 10) // as the convention says
	seconds        = metric.WithUnit("s")
)

func newMetrics(m metric.Meter) (*metrics, error) {
	all := &metrics{clients: map[*rlock.Client]bool{}, ended: counts{uncertain: map[string]int64{}}}
	all.acquired.rest = keep(event{}, attribute.Bool("otel.metric.overflow", true)) // as the SDK calls it
	var errs [14]error
	all.acquireTimes, errs[0] = m.Float64Histogram("rlock.acquire.duration", seconds, callBuckets, metric.WithDescription("How long those acquires took that acquired."))
	all.holdTimes, errs[1] = m.Float64Histogram("rlock.hold.duration", seconds, callBuckets, metric.WithDescription("How long holds lasted."))
	all.commands, errs[2] = m.Float64Histogram("db.client.operation.duration", seconds, commandBuckets, metric.WithDescription("Duration of database client operations."))
	all.renewals, errs[3] = m.Int64Counter("rlock.renewals", metric.WithUnit("{lease}"), metric.WithDescription("Leases that were to be extended."))
	all.lost, errs[4] = m.Int64Counter("rlock.leases.lost", metric.WithUnit("{hold}"), metric.WithDescription("Holds that ended before they were released."))
	all.wakeUps, errs[5] = m.Int64Counter("rlock.wakeups", metric.WithUnit("{wakeup}"), metric.WithDescription("Waiting calls that tried again."))
	all.undos, errs[6] = m.Int64Counter("rlock.undos", metric.WithUnit("{acquire}"), metric.WithDescription("Acquires whose reply was lost."))
	all.holds, errs[7] = m.Int64ObservableUpDownCounter("rlock.holds", metric.WithUnit("{hold}"), metric.WithDescription("Holds now."))
	all.waiters, errs[8] = m.Int64ObservableUpDownCounter("rlock.waiters", metric.WithUnit("{call}"), metric.WithDescription("Calls that wait now."))
	all.remaining, errs[9] = m.Float64ObservableGauge("rlock.lease.remaining.min", seconds, metric.WithDescription("The shortest time for which a hold is certain without another renewal."))
	all.acquires, errs[10] = m.Int64ObservableCounter("rlock.acquires", metric.WithUnit("{acquire}"), metric.WithDescription("Acquires that have ended."))
	all.uncertain, errs[11] = m.Int64ObservableCounter("rlock.releases.uncertain", metric.WithUnit("{release}"), metric.WithDescription("Holds whose release ended without an answer."))
	all.reconnects, errs[12] = m.Int64ObservableCounter("rlock.reconnects", metric.WithUnit("{connection}"), metric.WithDescription("Connections that took the place of another one."))
	all.unobserved, errs[13] = m.Int64ObservableCounter("rlock.unobserved.events", metric.WithUnit("{event}"), metric.WithDescription("Events that were dropped because observers were too slow."))
	err := errors.Join(errs[:]...)
	if err == nil {
		_, err = m.RegisterCallback(all.collect, all.holds, all.waiters, all.remaining, all.uncertain, all.reconnects, all.unobserved, all.acquires)
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
	holds, waiters, least := map[string]int64{}, map[string]int64{}, map[string]float64{}
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
	}
	for kind := range holds {
		of := metric.WithAttributes(attribute.String("rlock.kind", kind))
		to.ObserveInt64(m.holds, holds[kind], of)
		to.ObserveInt64(m.waiters, waiters[kind], of)
		if left, ok := least[kind]; ok {
			to.ObserveFloat64(m.remaining, left, of)
		}
	}
	for kind, n := range sums.uncertain {
		to.ObserveInt64(m.uncertain, n, metric.WithAttributes(attribute.String("rlock.kind", kind)))
	}
	m.acquired.observe(to, m.acquires)
	to.ObserveInt64(m.reconnects, sums.reconnects)
	to.ObserveInt64(m.unobserved, sums.unobserved)
	return nil
}
