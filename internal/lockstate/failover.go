package lockstate

import (
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/unlock"
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
		c.NoteMaster(change.Slots)
	}
	c.nodeChanged(change)
	c.Renewer.RenewIn(change.Slots)
	unlock.RepeatPast(&c.Client, change.Slots, change.NewMaster)
	if change.From == change.To {
		return // the hub follows by itself
	}
	c.EachName(func(n *state.Name) {
		if change.Slots.Has(n.Lock.Slot) {
			for q := range n.EachQueue {
				q.Resubscribe()
			}
			n.Step() // which sets the timer for their looks
		}
	})
}
