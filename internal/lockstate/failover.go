package lockstate

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
)

// follow acts on what the topology tells, until that is closed.
func (c *State) follow() {
	for changes := range c.Top.Changes() {
		for _, change := range changes {
			c.changed(change)
		}
	}
}

// changed renews the leases of the slots at once, which tells what is lost. It sends unlocks
// again that may have been lost, and makes waiters listen where releases are announced now, and
// look again.
func (c *State) changed(change topology.Change) {
	if change.NewMaster {
		c.noteMaster(change.Slots)
	}
	c.nodeChanged(change)
	c.watchdog.RenewIn(change.Slots)
	c.repeatUnlocks(change.Slots)
	if change.From == change.To {
		return // the hub follows by itself
	}
	c.eachName(func(n *name) {
		if change.Slots.Has(n.l.Slot) {
			for q := range n.eachQueue {
				q.resubscribe()
			}
		}
	})
}

// masterChange is a change of the master of some slots.
type masterChange struct {
	slots topology.Slots
	at    time.Duration
}

// masterChanges is how many of the latest are remembered, to explain a loss by.
const masterChanges = 16

// noteMaster remembers that slots have another master. It is for one goroutine.
func (c *State) noteMaster(slots topology.Slots) {
	var known []masterChange
	if last := c.masters.Load(); last != nil {
		known = (*last)[max(0, len(*last)-masterChanges+1):]
	}
	known = append(slices.Clip(known), masterChange{slots, c.Now()})
	c.masters.Store(&known)
}

// newMaster tells whether slot has had another master since then.
func (c *State) newMaster(slot uint16, since time.Duration) bool {
	known := c.masters.Load()
	return known != nil && slices.ContainsFunc(*known, func(m masterChange) bool { return m.at >= since && m.slots.Has(slot) })
}
