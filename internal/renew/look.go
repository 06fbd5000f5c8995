package renew

import (
	"github.com/rlock-go/redisson/internal/command"
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
type look struct{ script }

// look has the watchdog's leases looked at, where their node tells of changes.
func (r *Renewer) look(batch []*watchdog.Lease, answer func(int, bool)) {
	for _, p := range r.cut(batch, true, func(i int, a watchdog.Answer) { answer(i, a.Read) }) {
		if p.node.Track(r) {
			p.run()
			continue
		}
		for _, sub := range p.leases {
			answer(sub.i, r.untold.Load()) // Told has it looked at, unless there is nobody who tells
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
			sub.h.NotHeld(sub.lease, sub.Of)
		case held && !tracked && !k.untold.Load():
			sub.lease.Wrote() // the first command on a connection only begins to be told: another look follows
		}
		k.answer(sub.i, watchdog.Answer{Read: held && tracked})
	}
	k.leave()
	k.c.Work.Done()
}

// Told has what n serves looked at: changes are told from now on, or all keys have changed.
func (r *Renewer) Told(n *topology.Node, changed bool) {
	r.LookThose(func(h watchdog.Holder) bool {
		at, err := r.c.Top.Node(slotOf(h))
		return err == nil && at == n
	}, changed)
}

// Changed has the holders of a key looked at.
func (r *Renewer) Changed(key []byte) { r.changed(key) }

// Untold logs once that holders learn of their loss by renewals only.
func (r *Renewer) Untold(n *topology.Node, err error) {
	if !r.untold.Swap(true) {
		r.c.Log.Untold(n.Server(), err)
	}
}
