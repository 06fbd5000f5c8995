package lockstate

import (
	"slices"

	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/renew"
	"github.com/rlock-go/redisson/watchdog"
)

// What package renew asks of a renew.Holder.

// Lock is a lock of the name.
func (st *OwnerState) Lock() *core.Lock { return &st.n.l.Lock }

// Begin gives the command queue to a renewal. A look has no place in it: that no command began
// until it ends is asked then.
func (st *OwnerState) Begin(lease *watchdog.Lease, look bool) (n renew.Need, ready bool) {
	defer st.n.l.s.enter(mustNotBlock).leave()
	if st.lease != lease {
		return n, false
	}
	n.Of, n.More = st.kinds()
	n.Shown = st.shown()
	if look {
		st.calm = st.held > 0 && !st.busy
		return n, st.calm
	}
	if !st.beginRenewal() {
		return n, false
	}
	n.Count, n.TTL = st.tally(n.Of), st.renewedLease()
	n.Least = st.least(st.n.now(), n.TTL)
	return n, true
}

// kinds are locks of the owner's holds, one for each tally.
func (st *OwnerState) kinds() (l *core.Lock, more []*core.Lock) {
	l = st.Lock()
	if st.holds != nil {
		l = &st.holds.l.Lock
	}
	for h := st.holds; h != nil; h = h.next {
		same := func(o *core.Lock) bool { return o.Traits.Tally == h.l.Traits.Tally }
		if !same(l) && !slices.ContainsFunc(more, same) {
			more = append(more, &h.l.Lock)
		}
	}
	return l, more
}

// Next ends what is held no more, and counts what the next script is for.
func (st *OwnerState) Next(lost, next *core.Lock) int32 {
	defer st.n.l.s.enter(mustNotBlock).leave()
	if lost != nil {
		st.lose(lost, errVanished)
	}
	return st.tally(next)
}

// End gives the command queue back.
func (st *OwnerState) End(o renew.Outcome) {
	defer st.n.l.s.enter(mustNotBlock).leave()
	if o.Late > 0 {
		st.mayArrive(o.Late)
	}
	if o.Everywhere > 0 && st.shown() {
		st.ensureExtras().everywhere = o.Everywhere
	}
	st.endRenewal()
}

// NotHeld ends holds of which the server has said that they are not their owner's.
func (st *OwnerState) NotHeld(lease *watchdog.Lease, of *core.Lock) {
	defer st.n.l.s.enter(mustNotBlock).leave()
	if st.lease != lease || !st.calm {
		return
	}
	if _, more := st.kinds(); len(more) == 0 {
		st.lease.Disown()
	}
	st.n.changed() // others may have missed what this one did not
	st.lose(of, errVanished)
}

// changed has all who hold the name looked at.
func (n *name) changed() {
	for st := n.states; st != nil; st = st.next {
		if st.lease != nil {
			st.lease.Changed()
		}
	}
}

// keyChanged has the holders of a key looked at.
func (c *State) keyChanged(key []byte) {
	for _, of := range kind.Locks(string(key)) {
		s := c.shard(of.Key)
		sec := s.enter(mustNotBlock)
		if n := s.names[nameKey{of.Key, of.Family}]; n != nil {
			n.changed()
		}
		sec.leave()
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
