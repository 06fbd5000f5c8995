package lockstate

import (
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
// and has those who wait listen where their releases are told now, and look
// again.
func (c *State) changed(change topology.Change) {
	if change.Slots.All() {
		c.watchdog.RenewNow()
	} else {
		c.watchdog.RenewThose(func(h watchdog.Holder) bool { return change.Slots.Has(h.(*OwnerState).n.l.slot) })
	}
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
