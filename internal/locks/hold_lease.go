package locks

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/locks/lease"
	"github.com/rlock-go/redisson/watchdog"
)

// needs is what the living holds need of the lease together, without the hold but if that is
// not nil.
func (st *OwnerState) needs(but *Hold) lease.Sum {
	sum := lease.Of(st.name.Now(), st.name.lock.Client.Watchdog, st.keepOwed())
	for h := st.holds; h != nil; h = h.next {
		if h != but {
			sum.Add(&h.promise, h.own(), h.lease.Expiry())
			if h.lock.Traits.Asserts {
				sum.Assert(&h.promise)
			}
		}
	}
	return sum
}

// commandLease is the lease that a command of this owner sets: own, or what the
// living holds still need if that is longer, and at least a millisecond (H6). It does not end
// before the time for which holds that are over keep the lock taken.
func (st *OwnerState) commandLease(own time.Duration) time.Duration {
	if st.held == 0 && st.extras == nil {
		return max(own, time.Millisecond)
	}
	sum := st.needs(nil)
	return sum.Lease(own)
}

// register registers the lease with the watchdog before an acquire is sent
// (H5).
func (st *OwnerState) register() {
	if st.room.Holder() != nil { // room was used: each generation has its own registration (H5)
		st.lease = st.name.lock.Client.renewer.Register(st)
		return
	}
	st.lease = &st.room
	st.name.lock.Client.renewer.RegisterAt(st.lease, st)
}

// live tells the watchdog that a command sent at sent set the key's lease, which is
// trusted until expiry. It reports whether the lease is still to be trusted.
func (st *OwnerState) live(sent, expiry time.Duration) bool {
	if !st.alarmed {
		return st.lease.Live(expiry, sent, clock.Never)
	}
	sum := st.needs(nil)
	from, until := sent, sum.RenewUntil
	if until == 0 {
		from, until = clock.Never, clock.Never
	}
	if !st.lease.Live(expiry, from, until) {
		return false
	}
	st.alarm()
	return true
}

// trust is the instant until which a lease that was set by a command sent at
// sent can be relied on.
func (st *OwnerState) trust(sent, ttl time.Duration) time.Duration {
	return watchdog.Trust(sent, st.least(sent, ttl))
}

// least is what remains of a lease if a late command cuts it.
func (st *OwnerState) least(sent, ttl time.Duration) time.Duration {
	if st.extras == nil {
		return ttl
	}
	return st.extras.late.Least(sent, ttl)
}

// mayHaveSet records that a command sent at sent may have set the key's lease: it was not
// answered, or failed midway. Trust is lowered only here. It is not lowered when a command is
// sent, because the command may not run, and because it carries the lease that every living
// hold needs. An Extend accounts for its own hold.
func (st *OwnerState) mayHaveSet(sent, ttl time.Duration) {
	if st.lease != nil {
		st.lease.Lower(watchdog.Trust(sent, ttl))
	}
	st.mayLast(ttl)
}

// mayLast records that the server may keep the key for ttl and a command timeout from now on,
// because of a command that was not answered.
func (st *OwnerState) mayLast(ttl time.Duration) {
	r := st.ensureExtras()
	r.lasts = max(r.lasts, clock.Later(st.name.Now(), clock.Later(ttl, st.name.lock.Client.Timeout)))
}

// mayArrive records a lost command that sets the lease and whose connection could not be
// killed. Nobody can tell when it runs; lateFor is assumed. The owner may have released by
// then, and hold again.
func (st *OwnerState) mayArrive(ttl time.Duration) {
	st.ensureExtras().late.Add(ttl, clock.Later(st.name.Now(), st.name.lock.Client.lateFor()))
}

// hasLateCommands tells whether a lost command may still arrive, or whether an unlock of a hold
// that is over has to leave the lock taken. Then the state must be kept; a timer drops it afterwards.
func (st *OwnerState) hasLateCommands() bool {
	r, c := st.extras, st.name.lock.Client
	left := max(r.late.Left(st.name.Now()), r.keepOwed-st.name.Now())
	if c.Closed() || left <= 0 {
		r.late = lease.Late{}
		return false
	}
	if !r.dropTimer {
		r.dropTimer = true
		c.timers.After(left, func() {
			defer st.name.lock.shard.enter(mayBlock).leave()
			r.dropTimer = false
			st.dropIfIdle()
		})
	}
	return true
}

// alarm sets the watchdog's alarm to the earliest end of a hold's own lease or of contexts
// with a margin, or to when a hold is to be logged for its age.
func (st *OwnerState) alarm() {
	if st.lease == nil || !st.alarmed {
		return
	}
	at := clock.Never
	for h := st.holds; h != nil; h = h.next {
		at = min(at, h.own(), h.old(), h.early())
	}
	st.lease.SetAlarm(at)
}

// updateLease tells the watchdog of a change to the living holds that no command made. If a
// command follows, it is sent later, so its outcome does not matter here. The remaining holds
// decide how long the watchdog extends. Without holds and acquires there is no lease, and the
// watchdog forgets it before the last unlock is sent (H5).
func (st *OwnerState) updateLease() {
	switch {
	case st.lease == nil:
	case st.held > 0:
		sum := st.needs(nil)
		st.lease.RenewUntil(sum.RenewUntil)
		st.alarm()
	case st.attempts == 0:
		st.forget()
	}
}

// forget makes the watchdog forget the lease (H5).
func (st *OwnerState) forget() {
	if st.lease != nil {
		st.lease.Forget()
		st.lease = nil
	}
}

// timeIsUp ends the hold. But an Extend that was not written yet restarts its own time.
func (h *Hold) timeIsUp(now time.Duration) {
	if e := h.extends; e != nil && now >= e.end && h.lock.Client.exec.Unwritten(&e.req) {
		e.end = watchdog.Trust(now, e.length) // it can't run before it is written, so trust counts from now
	}
	switch {
	case now >= h.lease.Expiry():
		h.state.lose(nil, errExpired)
	case now >= h.own():
		h.state.drop(h)
		h.over(lostBy(errExpired))
		h.state.logLost([]*Hold{h}, errExpired)
		h.state.updateLease()
		if h.state.held == 0 {
			h.state.name.wakeHead() // no unlock will announce it
			h.state.dropIfIdle()
		}
	}
}

// LeaseLost is called by the watchdog when trust has ended, or when the server no longer names
// this owner as a holder.
func (st *OwnerState) LeaseLost(l *watchdog.Lease, why error) {
	cause := errVanished
	if why == watchdog.ErrExpired {
		cause = errExpired
	}
	defer st.name.lock.shard.enter(mustNotBlock).leave()
	if st.lease == l {
		st.lose(nil, cause)
	}
}

// LeaseAlarm is called by the watchdog when a hold's own lease has ended, when contexts with a
// margin must end, or when a hold is old enough to be logged.
func (st *OwnerState) LeaseAlarm(l *watchdog.Lease) {
	defer st.name.lock.shard.enter(mustNotBlock).leave()
	if st.lease != l {
		return
	}
	st.check()
	if st.lease == l {
		// Sets the next alarm, or this one again if it came a moment early.
		st.updateLease()
	}
}

// check ends the holds whose time has passed, and logs those that are old.
func (st *OwnerState) check() {
	for h := st.holds; h != nil; {
		next := h.next
		if h.check() == nil { // otherwise it has ended, or all have
			h.tellAge()
		}
		h = next
	}
}

// tally is how many living holds the server counts together with those of l's
// kind.
func (st *OwnerState) tally(l *Lock) (n int32) {
	for h := st.holds; h != nil; h = h.next {
		if h.lock.Traits.Tally == l.Traits.Tally {
			n++
		}
	}
	return n
}

// end ends the living holds that the server counts together with those of l's kind, or all if l
// is nil. It removes them from the list and returns them.
func (st *OwnerState) end(l *Lock, cause error) (ended []*Hold) {
	for h := st.holds; h != nil; {
		next := h.next
		if l == nil || h.lock.Traits.Tally == l.Traits.Tally {
			st.drop(h)
			h.over(cause)
			ended = append(ended, h)
		}
		h = next
	}
	return ended
}

// lose ends living holds as end does, because the owner has lost them. It logs the loss and
// wakes waiters.
func (st *OwnerState) lose(l *Lock, cause error) {
	lost := st.end(l, lostBy(cause))
	if st.held == 0 {
		st.forget()
		if st.extras != nil {
			st.extras.keepUntil, st.extras.keepOwed, st.extras.keeps = 0, 0, nil
		}
	}
	if len(lost) > 0 {
		if share := st.name.fairShare; share != nil && st.held == 0 {
			share.Released(st.name.Now(), false)
		}
		st.logLost(lost, cause)
		st.updateLease()
		// The message of a forced unlock is still to come.
		if !forced(cause) {
			st.name.wakeHead()
		}
	}
	st.dropIfIdle()
}

// supersede ends holds of owners other than st, because the server has just granted the lock to
// st, by a kind of this width. If the width is 1 it ends all of them, else those of kinds of
// width 1. Replies come in order on one connection, so any other hold of this client was
// granted earlier, and the server has lost it since. With two connections that is certain only
// for holds whose acquire was sent earlier.
func (n *nameState) supersede(st *OwnerState, width int, sent time.Duration) {
	for _, other := range n.ownerStates() {
		if other == st || other.held == 0 || other.find(func(h *Hold) bool { return h.since > sent }) != nil {
			continue
		}
		cause := errSuperseded
		if n.Now() >= other.lease.Expiry() {
			cause = errExpired // it has expired, but nothing has ended it yet
		}
		if width == 1 {
			other.lose(nil, cause)
		} else if h := other.find(func(h *Hold) bool { return h.lock.Traits.Width == 1 }); h != nil {
			other.lose(h.lock, cause)
		}
	}
}

// logLost logs holds that ended before they were released.
func (st *OwnerState) logLost(holds []*Hold, cause error) {
	c, slot := st.name.lock.Client, st.name.lock.slot
	if !c.Log.Warns() {
		return
	}
	now, since, renewed := st.name.Now(), holds[0].since, false
	for _, h := range holds {
		since = min(since, h.since)
		renewed = renewed || !h.promise.Fixed && now < h.promise.Until
	}
	// A renewed lease still existed one watchdog lease ago.
	there := since
	if renewed {
		there = max(since, now-c.Watchdog)
	}
	held := now - since
	if !forced(cause) && c.newMaster(slot, there) {
		cause = fmt.Errorf("%w, after the master changed", cause)
	}
	c.Log.Lost(st.name.lock.shard, st.eventLock(), st.name.lock.server(), len(holds), held, renewed, cause)
}
