package rlockotel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/rlock-go/redisson/rlock"
)

// metrics are the instruments.
type metrics struct {
	acquires, holdTimes, commands  metric.Float64Histogram
	renewals, lost, wakeUps, undos metric.Int64Counter
	holds, waiters                 metric.Int64ObservableUpDownCounter
	remaining                      metric.Float64ObservableGauge

	mu      sync.Mutex // guards clients
	clients map[*rlock.Client]bool
}

var (
	callBuckets    = metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300)
	commandBuckets = metric.WithExplicitBucketBoundaries(.001, .005, .01, .05, .1, .5, 1, 5, 10) // as the convention says
	seconds        = metric.WithUnit("s")
)

func newMetrics(m metric.Meter) (*metrics, error) {
	all := &metrics{clients: map[*rlock.Client]bool{}}
	var errs [10]error
	all.acquires, errs[0] = m.Float64Histogram("rlock.acquire.duration", seconds, callBuckets, metric.WithDescription("How long acquires took."))
	all.holdTimes, errs[1] = m.Float64Histogram("rlock.hold.duration", seconds, callBuckets, metric.WithDescription("How long holds lasted."))
	all.commands, errs[2] = m.Float64Histogram("db.client.operation.duration", seconds, commandBuckets, metric.WithDescription("Duration of database client operations."))
	all.renewals, errs[3] = m.Int64Counter("rlock.renewals", metric.WithUnit("{lease}"), metric.WithDescription("Leases that were to be extended."))
	all.lost, errs[4] = m.Int64Counter("rlock.leases.lost", metric.WithUnit("{hold}"), metric.WithDescription("Holds that ended before they were released."))
	all.wakeUps, errs[5] = m.Int64Counter("rlock.wakeups", metric.WithUnit("{wakeup}"), metric.WithDescription("Waiting calls that tried again."))
	all.undos, errs[6] = m.Int64Counter("rlock.undos", metric.WithUnit("{acquire}"), metric.WithDescription("Acquires whose reply was lost."))
	all.holds, errs[7] = m.Int64ObservableUpDownCounter("rlock.holds", metric.WithUnit("{hold}"), metric.WithDescription("Holds now."))
	all.waiters, errs[8] = m.Int64ObservableUpDownCounter("rlock.waiters", metric.WithUnit("{call}"), metric.WithDescription("Calls that wait now."))
	all.remaining, errs[9] = m.Float64ObservableGauge("rlock.lease.remaining.min", seconds, metric.WithDescription("The shortest time for which a hold is certain without another renewal."))
	err := errors.Join(errs[:]...)
	if err == nil {
		_, err = m.RegisterCallback(all.collect, all.holds, all.waiters, all.remaining)
	}
	return all, err
}

// started has the gauges tell of a client too, until it is closed.
func (m *metrics) started(c *rlock.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients[c] = true
}

func (m *metrics) closed(c *rlock.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clients, c)
}

// collect is called by the meter. Several clients are added up.
func (m *metrics) collect(_ context.Context, to metric.Observer) error {
	m.mu.Lock()
	var clients []*rlock.Client
	for c := range m.clients {
		clients = append(clients, c)
	}
	m.mu.Unlock()
	holds, waiters, least := map[string]int64{}, map[string]int64{}, map[string]float64{}
	for _, c := range clients {
		for kind, k := range c.Stats().Kinds {
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
	return nil
}
