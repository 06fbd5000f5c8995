package locks

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// The methods that follow are called by renewals and looks. They lock what they need.

// begin begins a renewal or a look. It reports false if the lease is no longer the owner's, or if a
// command of the owner is under way, which sets the lease or ends it (H6). A renewal gets the command
// queue. A look takes no place in it: notHeld checks afterwards that no command began meanwhile.
func (st *OwnerState) begin(lease *watchdog.Lease, look bool) (n need, ready bool) {
	defer st.name.lock.shard.enter(mustNotBlock).leave()
	if st.lease != lease {
		return n, false
	}
	n.of, n.more = st.kinds()
	switch {
	case look:
		st.calm = st.held > 0 && !st.busy
		return n, st.calm
	case st.paused: // the command under way waits until the renewal has ended
		st.paused, st.renewing = false, true
	case st.busy:
		return n, false
	}
	st.busy, st.calm = true, false
	full, sum := st.name.lock.Client.Watchdog, st.needs(nil)
	if st.held > 0 && !sum.Extends { // none wants more than what is left of its own
		full = 0
	}
	n.count, n.ttl = st.tally(n.of), sum.Lease(full)
	n.least = st.least(st.name.Now(), n.ttl)
	return n, true
}

// endRenewal gives the command queue back after a renewal, whatever came of it. late is the lease that
// it may still set, as it was lost on a connection that could not be killed; 0: none.
func (st *OwnerState) endRenewal(late time.Duration) {
	defer st.name.lock.shard.enter(mustNotBlock).leave()
	if late > 0 {
		st.mayArrive(late)
	}
	if st.renewing {
		st.paused, st.renewing = true, false
		return
	}
	st.goOn()
}

// kinds are locks of the owner's holds, one for each tally.
func (st *OwnerState) kinds() (l *Lock, more []*Lock) {
	l = st.name.lock
	if st.holds != nil {
		l = st.holds.lock
	}
	for h := st.holds; h != nil; h = h.next {
		same := func(o *Lock) bool { return o.Traits.Tally == h.lock.Traits.Tally }
		if !same(l) && !slices.ContainsFunc(more, same) {
			more = append(more, h.lock)
		}
	}
	return l, more
}

// goOnRenewing ends the holds of lost's kind, unless lost is nil, and counts those of next's kind, for
// the next script.
func (st *OwnerState) goOnRenewing(lost, next *Lock) int32 {
	defer st.name.lock.shard.enter(mustNotBlock).leave()
	if lost != nil {
		st.lose(lost, errVanished)
	}
	return st.tally(next)
}

// failing tells that renewals of the lease begin to fail, and why, or with nil that they work again.
func (st *OwnerState) failing(lease *watchdog.Lease, err error) {
	s := st.name.lock.shard
	defer s.enter(mustNotBlock).leave()
	if st.lease != lease || st.held == 0 || command.IsClosed(err) {
		return
	}
	c, now := st.name.lock.Client, st.name.Now()
	e := observe.Event{Of: observe.LeaseFailing, Subject: st.holds.subject(), Err: err, Left: max(lease.Expiry()-now, 0)}
	if extras := st.ensureExtras(); err != nil {
		extras.failing = now
		c.Log.NotRenewed(s, st.eventLock(), e.Left, err)
	} else {
		e.Took = now - extras.failing
		c.Log.RenewedAgain(s, st.eventLock(), e.Took)
	}
	if c.Observer != nil {
		c.post(e)
	}
}

// notHeld ends holds that a look did not find, unless a command of the owner has begun since.
func (st *OwnerState) notHeld(lease *watchdog.Lease, of *Lock) {
	defer st.name.lock.shard.enter(mustNotBlock).leave()
	if st.lease != lease || !st.calm {
		return
	}
	if _, more := st.kinds(); len(more) == 0 {
		st.lease.Disown()
	}
	st.name.changed() // the other owners may not have been told
	st.lose(of, errVanished)
}

// changed makes the watchdog look at all owners that hold the name.
func (n *nameState) changed() {
	for st := n.states; st != nil; st = st.next {
		if st.lease != nil {
			st.lease.Changed()
		}
	}
}

// readAgain makes one of the owners that hold the name, but not besides, read the key again.
func (n *nameState) readAgain(besides *OwnerState) {
	for o := n.states; o != nil; o = o.next {
		if o != besides && o.held > 0 && o.lease != nil {
			o.lease.Wrote()
			return
		}
	}
}
