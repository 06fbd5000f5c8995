package topology

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// OnlyLookWhenTold lets the topology ask the Sentinels only after their messages. It is called
// before the first use.
func (t *Sentinel) OnlyLookWhenTold() { t.lookAtLeast = 24 * time.Hour }

// Look makes the topology ask the Sentinels soon.
func (t *Sentinel) Look() { clock.Signal(t.news) }

// Sentinels returns how many Sentinels are known.
func (t *Sentinel) Sentinels() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sentinels)
}

// Tend does what a cluster does every lookAnyway, and reports whether it would look.
func Tend(t Topology) (looks bool) { return t.(*Cluster).tend() }

// IdleLooks is after how many such intervals an unused node is given up.
const IdleLooks = idleLooks

// Looked returns a channel that is closed when the current look, or else the next, has ended.
func Looked(t Topology) <-chan struct{} {
	c := t.(*Cluster)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looked
}

// LookNow makes a cluster look at its map.
func LookNow(t Topology) { t.(*Cluster).lookSoon() }

// LeftFor is how long a former master is avoided.
const LeftFor = leftFor

// Stays asks the topology whether the master at addr stays, although these replicas have gone.
func Stays(ctx context.Context, t Topology, addr string, gone ...string) error {
	if c, ok := t.(*Cluster); ok {
		return c.stays(ctx, addr, gone)
	}
	return t.(*Sentinel).stays(ctx, gone)
}

// Known returns the replicas that the topology knows of the master at addr.
func Known(t Topology, addr string) []string {
	if c, ok := t.(*Cluster); ok {
		return c.replicas(addr)
	}
	return t.(*Sentinel).replicas()
}
