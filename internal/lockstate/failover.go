package lockstate

import (
	"github.com/rlock-go/redisson/internal/topology"
)

// follow handles the topology's changes until the topology is closed.
func (c *State) follow() {
	for changes := range c.Top.Changes() {
		for _, change := range changes {
			c.changed(change)
		}
	}
}

// changed handles one change of the topology. It renews the leases of the slots at once, which
// shows what is lost. It repeats unlocks that the new server may lack. It makes waiters
// subscribe where releases are announced now, and look again.
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
			for q := range n.EachQueue {
				q.Resubscribe()
			}
			n.Step() // which sets the timer for their looks
		}
	})
}
