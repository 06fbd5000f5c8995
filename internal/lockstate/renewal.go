package lockstate

import (
	"slices"

	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/renew"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/watchdog"
)

// An OwnerState is a renew.Holder, by the methods that follow.

// Lock is a lock of the name.
func (st *OwnerState) Lock() *core.Lock { return &st.n.l.Lock }

// Begin gives the command queue to a renewal. A look takes no place in it: NotHeld checks
// afterwards that no command began meanwhile.
func (st *OwnerState) Begin(lease *watchdog.Lease, look bool) (n renew.Need, ready bool) {
	defer st.n.l.s.Enter(section.MustNotBlock).Leave()
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

// Next ends the holds of lost's kind, unless lost is nil, and counts those of next's kind, for
// the next script.
func (st *OwnerState) Next(lost, next *core.Lock) int32 {
	defer st.n.l.s.Enter(section.MustNotBlock).Leave()
	if lost != nil {
		st.lose(lost, errVanished)
	}
	return st.tally(next)
}

// End gives the command queue back.
func (st *OwnerState) End(o renew.Outcome) {
	defer st.n.l.s.Enter(section.MustNotBlock).Leave()
	if o.Late > 0 {
		st.mayArrive(o.Late)
	}
	if o.Everywhere > 0 && st.shown() {
		st.ensureExtras().everywhere = o.Everywhere
	}
	st.endRenewal()
}

// NotHeld ends holds that a look did not find, unless a command of the owner has begun since.
func (st *OwnerState) NotHeld(lease *watchdog.Lease, of *core.Lock) {
	defer st.n.l.s.Enter(section.MustNotBlock).Leave()
	if st.lease != lease || !st.calm {
		return
	}
	if _, more := st.kinds(); len(more) == 0 {
		st.lease.Disown()
	}
	st.n.changed() // the other owners may not have been told
	st.lose(of, errVanished)
}

// changed makes the watchdog look at all owners that hold the name.
func (n *name) changed() {
	for st := n.states; st != nil; st = st.next {
		if st.lease != nil {
			st.lease.Changed()
		}
	}
}

// tellOthers is called after a command of st on a name that other owners of this client hold
// too. The server does not tell this client of its own writes. So one of those owners must read
// the key again; then the server tells of changes, for all of them.
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
