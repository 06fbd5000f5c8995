package topology

import (
	"context"
	"time"
)

// OnlyLookWhenTold has the Sentinels asked for no reason but their own. It is
// called before the first use.
func (t *Sentinel) OnlyLookWhenTold() { t.lookAtLeast = 24 * time.Hour }

// Look has the Sentinels asked soon.
func (t *Sentinel) Look() { t.wake() }

// Sentinels is how many are known.
func (t *Sentinel) Sentinels() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sentinels)
}

// Tend does what a cluster does each lookAnyway, and tells whether it would look.
func Tend(t Topology) (looks bool) { return t.(*Cluster).tend() }

// IdleLooks is how often it finds a node unused before it gives it up.
const IdleLooks = idleLooks

// Looked is closed when the cluster's next look, or the one under way, has ended.
func Looked(t Topology) <-chan struct{} {
	c := t.(*Cluster)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looked
}

// LeftFor is for how long a master is avoided that was left.
const LeftFor = leftFor

// Stays is what a topology says of the master at addr, and of replicas that have gone.
func Stays(ctx context.Context, t Topology, addr string, gone ...string) error {
	if c, ok := t.(*Cluster); ok {
		return c.stays(ctx, addr, gone)
	}
	return t.(*Sentinel).stays(ctx, gone)
}

// Known are the replicas that a topology knows of the master at addr.
func Known(t Topology, addr string) []string {
	if c, ok := t.(*Cluster); ok {
		return c.replicas(addr)
	}
	return t.(*Sentinel).replicas()
}
