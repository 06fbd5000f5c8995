package lockstate

import (
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// A hold learns of its loss at once where the server tells of changes of the keys that a
// connection has read (CLIENT TRACKING): see package watchdog for when they are read, and
// package pipeline for how. A look is the script that renews, with a lease of 0, which
// only reads. It does not occupy its owners' command queues, so that it delays nothing.
// So "not yours" counts only if no command of the owner was under way or began meanwhile:
// it could have run behind the look.

// look is a script that looks. Of an owner that holds by several kinds, one is looked
// at, and the next after that is lost.
type look struct{ leaseScript }

// look has the watchdog's leases looked at, where their node tells of changes.
func (c *State) look(batch []*watchdog.Lease, answer func(int, bool)) {
	for _, n := range c.cut(batch, true, func(i int, a watchdog.Answer) { answer(i, a.Read) }) {
		if n.node.Track(c) {
			n.run()
			continue
		}
		for _, sub := range n.leases {
			answer(sub.i, c.untold.Load()) // Told has it looked at, unless there is nobody who tells
		}
	}
}

// Rest takes the end of a look that was not answered.
func (k *look) Rest(q *command.Request) {
	if q.Fate == command.Lost {
		k.c.Exec.Barrier(q)
	}
	k.Answered(q)
}

// Answered takes the answer.
func (k *look) Answered(q *command.Request) {
	mine, _ := k.read(q)
	k.end(mine, q.Wire.Tracked)
}

// end answers, and ends what is held no more. Without mine nothing is known.
func (k *look) end(mine []bool, tracked bool) {
	for i := range k.subs {
		sub := &k.subs[i]
		held := mine != nil && mine[i]
		switch {
		case mine != nil && !held:
			sub.lose()
		case held && !tracked && !k.c.untold.Load():
			sub.lease.Wrote() // the first command on a connection only begins to be told: another look follows
		}
		k.answer(sub.i, watchdog.Answer{Read: held && tracked})
	}
	k.leave()
	k.c.Work.Done()
}

// lose ends holds of which the server has said that they are not their owner's.
func (sub *renewee) lose() {
	st := sub.st
	defer st.n.l.s.enter(mustNotBlock).leave()
	if st.lease != sub.lease || !st.calm {
		return
	}
	if _, more := st.kinds(); len(more) == 0 {
		st.lease.Disown()
	}
	st.n.changed() // others may have missed what this one did not
	st.lose(sub.l, errVanished)
}

// changed has all who hold the name looked at.
func (n *name) changed() {
	for st := n.states; st != nil; st = st.next {
		if st.lease != nil {
			st.lease.Changed()
		}
	}
}

// idle gives up the subscriptions when nothing has been held for a while.
func (c *State) idle() {
	if c.liveHolds.Count() == 0 {
		for _, n := range c.Top.Nodes() {
			n.Untrack()
		}
	}
}

// Told has what n serves looked at: changes are told from now on, or all keys have changed.
func (c *State) Told(n *topology.Node, changed bool) {
	c.watchdog.LookThose(func(h watchdog.Holder) bool {
		at, err := c.Top.Node(slotOf(h))
		return err == nil && at == n
	}, changed)
}

// Changed has the holders of a key looked at.
func (c *State) Changed(key []byte) {
	for _, of := range kind.Locks(string(key)) {
		s := c.shard(of.Key)
		sec := s.enter(mustNotBlock)
		if n := s.names[nameKey{of.Key, of.Family}]; n != nil {
			n.changed()
		}
		sec.leave()
	}
}

// Untold logs once that holders learn of their loss by renewals only.
func (c *State) Untold(n *topology.Node, err error) {
	if !c.untold.Swap(true) {
		c.Log.Untold(n.Server(), err)
	}
}

// tellOthers follows a command of st's, for a name that other owners of this client
// hold too: the server does not tell this client of its own writes. Once one of those
// owners has read the key, changes are told for all.
func (st *OwnerState) tellOthers() {
	n := st.n
	if n.exclusive > 0 || n.holders == 0 || n.holders == 1 && st.held > 0 {
		return
	}
	for o := n.states; o != nil; o = o.next {
		if o != st && o.held > 0 && o.lease != nil {
			o.lease.Wrote()
			return
		}
	}
}
