package state

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/lease"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/watchdog"
)

// Needs is what the living holds need of the lease together, without the hold but if that is
// not nil.
func (st *OwnerState) Needs(but *Hold) lease.Sum {
	sum := lease.Of(st.Name.Now(), st.Name.Lock.Client.Watchdog)
	sum.Keep(st.keepOwed())
	for h := st.holds; h != nil; h = h.next {
		if h != but {
			sum.Add(&h.Promise, h.own(), h.Lease.Expiry())
			if h.Lock.Traits.Asserts {
				sum.Assert(&h.Promise)
			}
		}
	}
	return sum
}

// CommandLease is the lease that a command of this owner sets: own, or what the
// living holds still need if that is longer, and at least a millisecond (H6). It does not end
// before the time for which holds that are over keep the lock taken.
func (st *OwnerState) CommandLease(own time.Duration) time.Duration {
	if st.Held == 0 && st.Extras == nil {
		return max(own, time.Millisecond)
	}
	sum := st.Needs(nil)
	return sum.Lease(own)
}

// renewedLease is the lease that a renewal sets: CommandLease of the watchdog's lease. If it
// extends none, it is what they have left.
func (st *OwnerState) renewedLease() time.Duration {
	full := st.Name.Lock.Client.Watchdog
	if st.alarmed && st.Held > 0 {
		if sum := st.Needs(nil); !sum.Extends() {
			return sum.Lease(0)
		}
	}
	return st.CommandLease(full)
}

// Register registers the lease with the watchdog before an acquire is sent
// (H5).
func (st *OwnerState) Register() {
	if st.room.Holder() != nil { // room was used: each generation has its own registration (H5)
		st.Lease = st.Name.Lock.Client.Renewer.Register(st)
		return
	}
	st.Lease = &st.room
	st.Name.Lock.Client.Renewer.RegisterAt(st.Lease, st)
}

// Live tells the watchdog that a command sent at sent set the key's lease, which is
// trusted until expiry. It reports whether the lease is still to be trusted.
func (st *OwnerState) Live(sent, expiry time.Duration) bool {
	if !st.alarmed {
		return st.Lease.Live(expiry, sent, clock.Never)
	}
	sum := st.Needs(nil)
	from, until := sent, sum.RenewUntil
	if until == 0 {
		from, until = clock.Never, clock.Never
	}
	if !st.Lease.Live(expiry, from, until) {
		return false
	}
	st.Alarm()
	return true
}

// Trust is the instant until which a lease that was set by a command sent at
// sent can be relied on.
func (st *OwnerState) Trust(sent, ttl time.Duration) time.Duration {
	return watchdog.Trust(sent, st.Least(sent, ttl))
}

// Least is what remains of a lease if a late command cuts it.
func (st *OwnerState) Least(sent, ttl time.Duration) time.Duration {
	if st.Extras == nil {
		return ttl
	}
	return st.Extras.late.Least(sent, ttl)
}

// MayHaveSet records that a command sent at sent may have set the key's lease: it was not
// answered, or failed midway. Trust is lowered only here. It is not lowered when a command is
// sent, because the command may not run, and because it carries the lease that every living
// hold needs. An Extend accounts for its own hold.
func (st *OwnerState) MayHaveSet(sent, ttl time.Duration) {
	if st.Lease != nil {
		st.Lease.Lower(watchdog.Trust(sent, ttl))
	}
	st.MayLast(ttl)
}

// MayLast records that the server may keep the key for ttl and a command timeout from now on,
// because of a command that was not answered.
func (st *OwnerState) MayLast(ttl time.Duration) {
	r := st.EnsureExtras()
	r.Lasts = max(r.Lasts, clock.Later(st.Name.Now(), clock.Later(ttl, st.Name.Lock.Client.Timeout)))
}

// MayArrive records a lost command that sets the lease and whose connection could not be
// killed. Nobody can tell when it runs; LateFor is assumed. The owner may have released by
// then, and hold again.
func (st *OwnerState) MayArrive(ttl time.Duration) {
	st.EnsureExtras().late.Add(ttl, clock.Later(st.Name.Now(), st.Name.Lock.Client.LateFor()))
}

// hasLateCommands tells whether a lost command may still arrive, or whether an unlock of a hold
// that is over has to leave the lock taken. Then the state must be kept; a timer drops it afterwards.
func (st *OwnerState) hasLateCommands() bool {
	r, c := st.Extras, st.Name.Lock.Client
	left := max(r.late.Left(st.Name.Now()), r.keepOwed-st.Name.Now())
	if c.Closed() || left <= 0 {
		r.late = lease.Late{}
		return false
	}
	if !r.dropTimer {
		r.dropTimer = true
		c.Timers.After(left, func() {
			defer st.Name.Lock.Shard.Enter(section.MayBlock).Leave()
			r.dropTimer = false
			st.dropIfIdle()
		})
	}
	return true
}

// Alarm sets the watchdog's alarm to the earliest end of a hold's own lease or of contexts
// with a margin, or to when a hold is to be logged for its age.
func (st *OwnerState) Alarm() {
	if st.Lease == nil || !st.alarmed {
		return
	}
	at := clock.Never
	for h := st.holds; h != nil; h = h.next {
		at = min(at, h.own(), h.old(), h.early())
	}
	st.Lease.SetAlarm(at)
}

// UpdateLease tells the watchdog of a change to the living holds that no command made. If a
// command follows, it is sent later, so its outcome does not matter here. The remaining holds
// decide how long the watchdog extends. Without holds and acquires there is no lease, and the
// watchdog forgets it before the last unlock is sent (H5).
func (st *OwnerState) UpdateLease() {
	switch {
	case st.Lease == nil:
	case st.Held > 0:
		sum := st.Needs(nil)
		st.Lease.RenewUntil(sum.RenewUntil)
		st.Alarm()
	case st.Attempts == 0:
		st.Forget()
	}
}

// Forget makes the watchdog forget the lease (H5).
func (st *OwnerState) Forget() {
	if st.Lease != nil {
		st.Lease.Forget()
		st.Lease = nil
	}
}

// timeIsUp ends the hold. But an Extend that was not written yet restarts its own time.
func (h *Hold) timeIsUp(now time.Duration) {
	if e := h.Extends; e != nil && now >= e.End && h.Lock.Client.Exec.Waiting(&e.Req) {
		e.End = watchdog.Trust(now, e.For) // it can't run before it is written, so trust counts from now
	}
	switch {
	case now >= h.Lease.Expiry():
		h.State.Lose(nil, ErrExpired)
	case now >= h.own():
		h.State.Drop(h)
		h.Over(LostBy(ErrExpired))
		h.State.logLost([]*Hold{h}, ErrExpired)
		h.State.UpdateLease()
		if h.State.Held == 0 {
			h.State.Name.WakeHead() // no unlock will announce it
			h.State.dropIfIdle()
		}
	}
}

// LeaseLost is called by the watchdog when trust has ended, or when the server no longer names
// this owner as a holder.
func (st *OwnerState) LeaseLost(l *watchdog.Lease, why error) {
	cause := ErrVanished
	if why == watchdog.ErrExpired {
		cause = ErrExpired
	}
	defer st.Name.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if st.Lease == l {
		st.Lose(nil, cause)
	}
}

// LeaseAlarm is called by the watchdog when a hold's own lease has ended, when contexts with a
// margin must end, or when a hold is old enough to be logged.
func (st *OwnerState) LeaseAlarm(l *watchdog.Lease) {
	defer st.Name.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if st.Lease != l {
		return
	}
	st.check()
	if st.Lease == l {
		// Sets the next alarm, or this one again if it came a moment early.
		st.UpdateLease()
	}
}

// check ends the holds whose time has passed, and logs those that are old.
func (st *OwnerState) check() {
	for h := st.holds; h != nil; {
		next := h.next
		if h.Check() == nil { // otherwise it has ended, or all have
			h.tellAge()
		}
		h = next
	}
}

// Tally is how many living holds the server counts together with those of l's
// kind.
func (st *OwnerState) Tally(l *core.Lock) (n int32) {
	for h := st.holds; h != nil; h = h.next {
		if h.Lock.Traits.Tally == l.Traits.Tally {
			n++
		}
	}
	return n
}

// end ends the living holds that the server counts together with those of l's kind, or all if l
// is nil. It removes them from the list and returns them.
func (st *OwnerState) end(l *core.Lock, cause error) (ended []*Hold) {
	for h := st.holds; h != nil; {
		next := h.next
		if l == nil || h.Lock.Traits.Tally == l.Traits.Tally {
			st.Drop(h)
			h.Over(cause)
			ended = append(ended, h)
		}
		h = next
	}
	return ended
}

// Lose ends living holds as end does, because the owner has lost them. It logs the loss and
// wakes waiters.
func (st *OwnerState) Lose(l *core.Lock, cause error) {
	lost := st.end(l, LostBy(cause))
	if st.Held == 0 {
		st.Forget()
		if st.Extras != nil {
			st.Extras.KeepUntil, st.Extras.keepOwed, st.Extras.keeps = 0, 0, nil
		}
	}
	if len(lost) > 0 {
		if share := st.Name.FairShare; share != nil && st.Held == 0 {
			share.Released(st.Name.Now(), false)
		}
		st.logLost(lost, cause)
		st.UpdateLease()
		// The message of a forced unlock is still to come.
		if cause != ErrForced {
			st.Name.WakeHead()
		}
	}
	st.dropIfIdle()
}

// Supersede ends holds of owners other than st, because the server has just granted the lock to
// st, by a kind of this width. If the width is 1 it ends all of them, else those of kinds of
// width 1. Replies come in order on one connection, so any other hold of this client was
// granted earlier, and the server has lost it since. With two connections that is certain only
// for holds whose acquire was sent earlier.
func (n *Name) Supersede(st *OwnerState, width int, sent time.Duration) {
	for _, other := range n.OwnerStates() {
		if other == st || other.Held == 0 || other.Find(func(h *Hold) bool { return h.Since > sent }) != nil {
			continue
		}
		cause := errSuperseded
		if n.Now() >= other.Lease.Expiry() {
			cause = ErrExpired // it has expired, but nothing has ended it yet
		}
		if width == 1 {
			other.Lose(nil, cause)
		} else if h := other.Find(func(h *Hold) bool { return h.Lock.Traits.Width == 1 }); h != nil {
			other.Lose(&h.Lock.Lock, cause)
		}
	}
}

// logLost logs holds that ended before they were released.
func (st *OwnerState) logLost(holds []*Hold, cause error) {
	c, slot := st.Name.Lock.Client, st.Name.Lock.Slot
	if !c.Log.Warns() {
		return
	}
	now, since, renewed := st.Name.Now(), holds[0].Since, false
	for _, h := range holds {
		since = min(since, h.Since)
		renewed = renewed || !h.Promise.Fixed && now < h.Promise.Until
	}
	// A renewed lease still existed one watchdog lease ago.
	there := since
	if renewed {
		there = max(since, now-c.Watchdog)
	}
	held := now - since
	if cause != ErrForced && c.NewMaster(slot, there) {
		cause = fmt.Errorf("%w, after the master changed", cause)
	}
	c.Log.Lost(st.Name.Lock.Shard, st.Told(), st.Name.Lock.Server(), len(holds), held, renewed, cause)
}
