package locks

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// changed handles one change of the topology. It remembers a new master. It renews the leases of
// the slots at once, which shows what is lost. It repeats unlocks that the new server may lack. It
// makes waiters subscribe where releases are announced now, and look again. One goroutine calls it.
func (c *Client) changed(change topology.Change) {
	if change.NewMaster {
		var known []masterChange
		if last := c.masters.Load(); last != nil {
			known = (*last)[max(0, len(*last)-masterChanges+1):]
		}
		known = append(slices.Clip(known), masterChange{change.Slots, c.Clock.Now()})
		c.masters.Store(&known)
	}
	if c.Observer != nil {
		c.nodeChanged(change)
	}
	c.renewer.RenewThose(func(h watchdog.Holder) bool { return change.Slots.Has(leaseSlot(h)) })
	c.repeatPast(change.Slots, change.NewMaster)
	if change.From == change.To {
		return // the hub follows by itself
	}
	c.eachName(func(n *nameState) {
		if change.Slots.Has(n.lock.slot) {
			for q := range n.eachQueue {
				q.resubscribe()
			}
			n.step() // which sets the timer for their looks
		}
	})
}

// masterChange is a change of the master of some slots.
type masterChange struct {
	slots topology.Slots
	at    time.Duration
}

// masterChanges is how many of the latest changes are remembered, to explain why a hold was
// lost.
const masterChanges = 16

// newMaster tells whether slot has had another master since then.
func (c *Client) newMaster(slot uint16, since time.Duration) bool {
	known := c.masters.Load()
	return known != nil && slices.ContainsFunc(*known, func(m masterChange) bool { return m.at >= since && m.slots.Has(slot) })
}
