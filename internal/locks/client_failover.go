package locks

import "github.com/rlock-go/redisson/internal/topology"

// follow handles the topology's changes until the topology is closed.
func (c *Client) follow() {
	for changes := range c.top.Changes() {
		for _, change := range changes {
			c.changed(change)
		}
	}
}

// changed handles one change of the topology. It renews the leases of the slots at once, which
// shows what is lost. It repeats unlocks that the new server may lack. It makes waiters
// subscribe where releases are announced now, and look again.
func (c *Client) changed(change topology.Change) {
	if change.NewMaster {
		c.noteMaster(change.Slots)
	}
	c.nodeChanged(change)
	c.renewer.renewIn(change.Slots)
	repeatPast(&c.table, change.Slots, change.NewMaster)
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
