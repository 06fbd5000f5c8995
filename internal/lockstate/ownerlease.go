package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/watchdog"
)

// needs is the lease that the living holds still need from now on, in whole
// milliseconds, rounded up (H6). A hold that the watchdog extends needs a full
// watchdog timeout, unless its MaxHold is over. It needs no less than its
// ValidUntil says, so that the end of a longer nested lease does not cut it
// short. MaxHold bounds ValidUntil, and so bounds what such a lease leaves.
func (st *OwnerState) needs(now time.Duration) time.Duration {
	var need time.Duration
	for h := st.holds; h != nil; h = h.next {
		if h.fixed {
			need = max(need, h.until-now)
			continue
		}
		if now < h.until {
			need = max(need, st.n.l.c.o.Watchdog)
		}
		need = max(need, watchdog.Lasting(h.trust()-now))
	}
	return roundUp(need)
}

// roundUp gives whole milliseconds, none for less than nothing.
func roundUp(d time.Duration) time.Duration {
	return clock.Later(max(d, 0), time.Millisecond-1).Truncate(time.Millisecond)
}

// commandLease is the lease that a command of this owner sets: own, or what the
// living holds still need if that is longer, and at least a millisecond.
func (st *OwnerState) commandLease(own time.Duration) time.Duration {
	if st.held == 0 {
		return max(own, time.Millisecond)
	}
	return max(own, st.needs(st.n.now()), time.Millisecond)
}

// renewUntil is when the watchdog stops extending: the latest limit of the
// living holds that it extends. 0 means that it extends none.
func (st *OwnerState) renewUntil() time.Duration {
	var until time.Duration
	for h := st.holds; h != nil; h = h.next {
		if !h.fixed {
			until = max(until, h.until)
		}
	}
	return until
}

// leased records that a command sent at sent set the key's lease to ttl, and
// tells the watchdog.
func (st *OwnerState) leased(sent, ttl time.Duration) { st.live(sent, st.trust(sent, ttl)) }

// mayHaveSet records that a command sent at sent, which sets the key's lease,
// was not answered or failed half way. A command that did not run changes
// nothing, so trust is lowered only here. Before that it is not: a command
// carries the lease that every living hold needs, and an Extend counts for its
// own hold.
func (st *OwnerState) mayHaveSet(sent, lease time.Duration) {
	if st.lease != nil {
		st.lease.Lower(watchdog.Trust(sent, lease))
	}
	st.mayLast(lease)
}

// mayLast records that the server may keep the key for lease from now on, by a
// command that was not answered.
func (st *OwnerState) mayLast(lease time.Duration) {
	st.lasts = max(st.lasts, clock.Later(st.n.now(), clock.Later(lease, st.n.l.c.o.Timeout)))
}

// alarm sets the watchdog's alarm to the earliest end of a hold's own lease, or to
// when one is to be logged for its age.
func (st *OwnerState) alarm() {
	at := clock.Never
	for h := st.holds; h != nil; h = h.next {
		at = min(at, h.own(), h.old())
	}
	st.lease.SetAlarm(at)
}

// mayArrive records a lost command that sets the lease and whose connection
// could not be killed. If it runs after all, it cuts the lease that a later
// command has set. Nobody can tell for how long that may happen. It is assumed
// for one watchdog timeout, and at least for as long as the server remembers an
// unlock. The owner may have released by then, and hold again.
func (st *OwnerState) mayArrive(lease time.Duration) {
	c := st.n.l.c
	r := st.ensureExtras()
	if r.lateUntil == 0 || lease < r.lateLease {
		r.lateLease = lease
	}
	r.lateUntil = clock.Later(st.n.now(), c.lateFor())
}

// lateFor is for how long a lost command is reckoned with whose connection could not
// be killed.
func (c *State) lateFor() time.Duration { return max(c.o.Watchdog, c.latchTTL) }

// least is what remains of a lease if a late command cuts it.
func (st *OwnerState) least(sent, lease time.Duration) time.Duration {
	if r := st.extras; r != nil && sent < r.lateUntil {
		return min(lease, r.lateLease)
	}
	return lease
}

// hasLateCommands tells whether a lost command may still arrive, which is a
// reason to keep the state. A timer drops the state afterwards.
func (st *OwnerState) hasLateCommands() bool {
	r, c := st.extras, st.n.l.c
	if r == nil || r.lateUntil == 0 {
		return false
	}
	left := r.lateUntil - st.n.now()
	if c.Closed() || left <= 0 {
		r.lateUntil = 0
		st.dropEmptyExtras()
		return false
	}
	if !r.dropTimer {
		r.dropTimer = true
		c.timers.After(left, func() {
			s := st.n.l.s
			defer s.enter(mayBlock).leave()
			r.dropTimer = false
			st.dropIfIdle()
		})
	}
	return true
}

// updateLease tells the watchdog when the living holds have changed without a
// command. A command that follows from the change is sent later, so its outcome
// does not matter here. The remaining holds decide until when the watchdog
// extends. Without holds and acquires there is no lease, and the watchdog
// forgets it before the last unlock is sent (H5).
func (st *OwnerState) updateLease() {
	switch {
	case st.lease == nil:
	case st.held > 0:
		st.lease.RenewUntil(st.renewUntil())
		st.alarm()
	case st.attempts == 0:
		st.forget()
	}
}
