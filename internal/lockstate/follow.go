package lockstate

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// follow acts on what the topology tells, until that is closed.
func (c *State) follow() {
	for changes := range c.top.Changes() {
		for _, change := range changes {
			c.changed(change)
		}
	}
}

// changed has the leases of the slots renewed at once, which tells what is lost,
// sends unlocks again that may have been lost, and has those who wait listen where their releases are told now, and look
// again.
func (c *State) changed(change topology.Change) {
	if change.NewMaster {
		c.noteMaster(change.Slots)
	}
	if change.Slots.All() {
		c.watchdog.RenewNow()
	} else {
		c.watchdog.RenewThose(func(h watchdog.Holder) bool { return change.Slots.Has(h.(*OwnerState).n.l.slot) })
	}
	c.repeatUnlocks(change.Slots)
	if change.From == change.To {
		return // the hub follows by itself
	}
	c.eachName(func(n *name) {
		if change.Slots.Has(n.l.slot) {
			for q := n.first(); q != nil; q = q.next {
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
	known = append(slices.Clip(known), masterChange{slots, c.now()})
	c.masters.Store(&known)
}

// newMaster tells whether slot has had another master since then.
func (c *State) newMaster(slot uint16, since time.Duration) bool {
	known := c.masters.Load()
	return known != nil && slices.ContainsFunc(*known, func(m masterChange) bool { return m.at >= since && m.slots.Has(slot) })
}
