package locks

import (
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// A hold learns of its loss at once if the server reports changes of the keys that a
// connection has read (CLIENT TRACKING). Package watchdog decides when keys are read, and
// package pipeline how. A look is the renewal script with a lease of 0, which only reads.
// It takes no place in the owners' command queues, so it delays nothing. So the reply "not
// yours" counts only if no command of the owner was under way or began meanwhile: that
// could have run after the look.

// look is a script that looks. If an owner holds by several kinds, only one is looked at;
// when that is lost, the next is.
type look struct{ renewalScript }

// look looks at the watchdog's leases, where their node reports changes.
func (r *renewer) look(batch []*watchdog.Lease, answer func(int, bool)) {
	for _, p := range r.cut(batch, true, func(i int, a watchdog.Answer) { answer(i, a.Read) }) {
		if p.node.Track(r) {
			p.run()
			continue
		}
		for _, sub := range p.leases {
			answer(sub.i, r.untold.Load()) // Tracked looks at it later, unless the server reports nothing
		}
	}
}

// Rest handles the end of a look that was not answered.
func (k *look) Rest(q *command.Request) {
	if q.Fate == command.Lost {
		k.c.exec.Barrier(q)
	}
	k.Answered(q)
}

// Answered handles the reply: it answers for the leases, and ends the holds that are lost.
func (k *look) Answered(q *command.Request) {
	mine, _ := k.read(q) // nil: nothing is known
	tracked := q.Wire.Tracked
	for i := range k.subs {
		sub := &k.subs[i]
		held := mine != nil && mine[i]
		switch {
		case mine != nil && !held:
			sub.st.notHeld(sub.lease, sub.of)
		case held && !tracked && !k.untold.Load():
			sub.lease.Wrote() // the first command on a connection only switches reports on, so look again
		}
		k.answer(sub.i, watchdog.Answer{Read: held && tracked})
	}
	k.leave()
	k.c.work.Done()
}

// Tracked looks at the leases that n serves: the server reports changes from now on or, if
// changed is set, all keys have changed.
func (r *renewer) Tracked(n *topology.Node, changed bool) {
	r.LookThose(func(h watchdog.Holder) bool {
		at, err := r.c.top.Node(leaseSlot(h))
		return err == nil && at == n
	}, changed)
}

// Changed makes the watchdog look at all holders of a key.
func (r *renewer) Changed(key []byte) {
	for _, of := range r.c.Older.Locks(string(key)) {
		s := r.c.shard(of.Key)
		sec := s.enter(mustNotBlock)
		if n := s.names[nameKey{of.Key, of.Family}]; n != nil {
			n.changed()
		}
		sec.leave()
	}
}

// Untracked logs, once, that holders learn of a loss only when they renew.
func (r *renewer) Untracked(n *topology.Node, err error) {
	if !r.untold.Swap(true) {
		r.c.Log.Untracked(n.Server(), err)
	}
}

// idle stops listening for changes of keys if nothing is held. It is called when nothing has
// been registered for a while.
func (c *Client) idle() {
	if c.liveHolds.Count() == 0 {
		for _, n := range c.top.Nodes() {
			n.Untrack()
		}
	}
}
