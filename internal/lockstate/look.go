package lockstate

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
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

// look is one script that looks at a batch of leases.
type look struct {
	c      *State
	of     *nodePart
	subs   []lookee
	answer func(int, bool)
}

// lookee is one lease of a look. Of an owner that holds by several kinds, one is
// looked at, and the next after that is lost.
type lookee struct {
	i     int // in the watchdog's batch
	st    *OwnerState
	lease *watchdog.Lease
	l     *Lock // of what kind the holds are
}

// look has the watchdog's leases looked at, where their node tells of changes.
func (c *State) look(batch []*watchdog.Lease, answer func(int, bool)) {
	unserved := func(i int, _ watchdog.Answer) { answer(i, false) }
	for _, n := range c.cut(batch, unserved) {
		if n.node.Track(c) {
			n.node.Looks.Run(func() bool { return c.lookNow(n, answer) })
			continue
		}
		for _, i := range n.at {
			answer(i, true) // whoever is to be told, Told has it looked at
		}
	}
}

// lookNow sends what of a batch one node serves, and reports whether it is on its way.
func (c *State) lookNow(n *nodePart, answer func(int, bool)) bool {
	n.open.Add(1)
	var all []*look
	for k, lease := range n.leases {
		sub := lookee{i: n.at[k], lease: lease, st: lease.Holder().(*OwnerState)}
		sec := sub.st.n.l.s.enter(mustNotBlock)
		ready := sub.st.lease == lease && sub.st.held > 0 && !sub.st.busy
		if ready {
			sub.l, _ = sub.st.kinds()
			sub.st.calm = true
		}
		sec.leave()
		if !ready {
			answer(sub.i, false)
			continue
		}
		at := slices.IndexFunc(all, func(k *look) bool { return k.subs[0].l.sharesRenew(sub.l) })
		if at < 0 {
			at = len(all)
			all = append(all, &look{c: c, of: n, answer: answer})
		}
		all[at].subs = append(all[at].subs, sub)
	}
	for _, k := range all {
		k.send()
	}
	c.exec.WakeWriter()
	return !n.over()
}

// send has it looked.
func (k *look) send() {
	k.of.open.Add(1)
	k.c.work.Add()
	l := k.subs[0].l
	q := &command.Request{Handler: k, Aside: true, Several: len(k.subs) > 1}
	l.c.fill(q, l.slot, l.kind.Renew(q.Wire.ArgBuffer[:0], k.c.leaseArg(0), len(k.subs), func(i int) kind.Held { return k.subs[i].l.held(k.subs[i].st) }))
	q.Wait, q.Wire.Track = false, true
	if !k.c.exec.Enqueue(q) {
		k.end(nil, false)
	}
}

// Unanswered comes before Done.
func (k *look) Unanswered(*command.Request) {}

// Paused never comes: the watchdog looks again.
func (k *look) Paused(*command.Request, time.Duration) {}

// Done takes the answer.
func (k *look) Done(q *command.Request) {
	mine, err := []bool(nil), q.Wire.Err
	if q.Fate == command.Answered {
		mine, err = codec.DecodeRenew(q.Wire.Reply, len(k.subs))
	}
	if err != nil && len(k.subs) > 1 && (!q.Passing() || q.Scattered()) && q.Fate == command.Refused {
		// One key of another type, or elsewhere, fails the whole batch.
		for _, sub := range k.subs {
			(&look{c: k.c, of: k.of, answer: k.answer, subs: []lookee{sub}}).send()
		}
		k.subs = nil
	}
	k.end(mine, q.Wire.Tracked)
}

// end answers, and ends what is held no more. Without mine nothing is known.
func (k *look) end(mine []bool, tracked bool) {
	for i, sub := range k.subs {
		held := mine != nil && mine[i]
		if mine != nil && !held {
			sub.lose()
		}
		k.answer(sub.i, held && tracked)
	}
	if k.of.over() {
		k.of.node.Looks.Done()
	}
	k.c.work.Done()
}

// lose ends holds of which the server has said that they are not their owner's.
func (sub *lookee) lose() {
	st := sub.st
	defer st.n.l.s.enter(mustNotBlock).leave()
	if st.lease != sub.lease || !st.calm {
		return
	}
	if _, more := st.kinds(); len(more) == 0 {
		st.lease.Disown()
	}
	st.n.changed() // others may have missed what this one did not
	st.lose(sub.l, watchdog.ErrNotOwned)
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
		for _, n := range c.top.Nodes() {
			n.Untrack()
		}
	}
}

// Told has what n serves looked at: changes are told from now on, or all keys have changed.
func (c *State) Told(n *topology.Node, changed bool) {
	c.watchdog.LookThose(func(h watchdog.Holder) bool {
		at, err := c.top.Node(slotOf(h))
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
		c.log.Untold(n.Server(), err)
	}
}

// tellOthers follows a command of st's: what it has written for a name that others of
// this client hold too, the server does not tell this client. Once one of them has read
// the key, changes are told for all.
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
