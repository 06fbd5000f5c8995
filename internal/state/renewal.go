package state

import (
	"slices"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/renew"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/watchdog"
)

// An OwnerState is a renew.Holder, by the methods that follow.

// Lock is a lock of the name.
func (st *OwnerState) Lock() *core.Lock { return &st.Name.Lock.Lock }

// Begin gives the command queue to a renewal. A look takes no place in it: NotHeld checks
// afterwards that no command began meanwhile.
func (st *OwnerState) Begin(lease *watchdog.Lease, look bool) (n renew.Need, ready bool) {
	defer st.Name.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if st.Lease != lease {
		return n, false
	}
	n.Of, n.More = st.kinds()
	if look {
		st.calm = st.Held > 0 && !st.Busy
		return n, st.calm
	}
	if !st.beginRenewal() {
		return n, false
	}
	n.Count, n.TTL = st.Tally(n.Of), st.renewedLease()
	n.Least = st.Least(st.Name.Now(), n.TTL)
	return n, true
}

// kinds are locks of the owner's holds, one for each tally.
func (st *OwnerState) kinds() (l *core.Lock, more []*core.Lock) {
	l = st.Lock()
	if st.holds != nil {
		l = &st.holds.Lock.Lock
	}
	for h := st.holds; h != nil; h = h.next {
		same := func(o *core.Lock) bool { return o.Traits.Tally == h.Lock.Traits.Tally }
		if !same(l) && !slices.ContainsFunc(more, same) {
			more = append(more, &h.Lock.Lock)
		}
	}
	return l, more
}

// Next ends the holds of lost's kind, unless lost is nil, and counts those of next's kind, for
// the next script.
func (st *OwnerState) Next(lost, next *core.Lock) int32 {
	defer st.Name.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if lost != nil {
		st.Lose(lost, ErrVanished)
	}
	return st.Tally(next)
}

// End gives the command queue back.
func (st *OwnerState) End(o renew.Outcome) {
	defer st.Name.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if o.Late > 0 {
		st.MayArrive(o.Late)
	}
	st.endRenewal()
}

// Failing tells that renewals of the lease begin to fail, or work again.
func (st *OwnerState) Failing(lease *watchdog.Lease, err error) {
	s := st.Name.Lock.Shard
	defer s.Enter(section.MustNotBlock).Leave()
	if st.Lease != lease || st.Held == 0 || command.IsClosed(err) {
		return
	}
	c, now := st.Name.Lock.Client, st.Name.Now()
	e := observe.Failing{Err: err, Left: max(lease.Expiry()-now, 0)}
	if extras := st.EnsureExtras(); err != nil {
		extras.failing = now
		c.Log.NotRenewed(s, st.Told(), e.Left, err)
	} else {
		e.Lasted = now - extras.failing
		c.Log.RenewedAgain(s, st.Told(), e.Lasted)
	}
	if c.Observer != nil {
		of := st.holds.Subject()
		c.Post(func(o observe.Observer) { o.Failing(of, e) })
	}
}

// NotHeld ends holds that a look did not find, unless a command of the owner has begun since.
func (st *OwnerState) NotHeld(lease *watchdog.Lease, of *core.Lock) {
	defer st.Name.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if st.Lease != lease || !st.calm {
		return
	}
	if _, more := st.kinds(); len(more) == 0 {
		st.Lease.Disown()
	}
	st.Name.changed() // the other owners may not have been told
	st.Lose(of, ErrVanished)
}

// changed makes the watchdog look at all owners that hold the name.
func (n *Name) changed() {
	for st := n.States; st != nil; st = st.next {
		if st.Lease != nil {
			st.Lease.Changed()
		}
	}
}

// tellOthers is called after a command of st on a name that other owners of this client hold
// too. The server does not tell this client of its own writes. So one of those owners must read
// the key again; then the server tells of changes, for all of them.
func (st *OwnerState) tellOthers() {
	n := st.Name
	if n.Exclusive > 0 || n.Holders == 0 || n.Holders == 1 && st.Held > 0 {
		return
	}
	n.readAgain(st)
}

// readAgain makes one of the owners that hold the name, but not besides, read the key again.
func (n *Name) readAgain(besides *OwnerState) {
	for o := n.States; o != nil; o = o.next {
		if o != besides && o.Held > 0 && o.Lease != nil {
			o.Lease.Wrote()
			return
		}
	}
}
