package locks

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/locks/lease"
	"github.com/rlock-go/redisson/watchdog"
)

// Hold is one acquisition of a lock. All methods are safe for concurrent use.
type Hold struct {
	// Face is the public hold that this one is a part of, so that a grant can be
	// handed out without an allocation. It never changes.
	Face any

	lock  *Lock
	state *OwnerState
	lease *watchdog.Lease // the registration it belongs to; each registration is a generation (H5)

	// Guarded by the shard's mutex.
	since    time.Duration // when its acquire was sent
	next     *Hold         // in its owner's list of living holds
	promise  lease.Promise // once the hold is over, its End is ValidUntil
	ended    error         // nil while held
	done     chan struct{} // closed when it is over; nil until asked for
	ctxs     *contexts     // that end with the hold; nil: there are none, and no Margin
	extends  *extending    // an Extend that may be running; nil: none
	released bool          // Unlock was called
	toldAge  bool          // it was logged because of its age
}

// extending is an Extend under way, as its hold knows it.
type extending struct {
	req    command.Request
	length time.Duration // the new lease
	end    time.Duration // when trust in the new lease ends, while a send may be running
}

// Why a hold is lost.
var (
	errVanished   = errors.New("the server no longer knows of it")
	errSuperseded = errors.New("the server has granted the lock to another owner")
	errForced     = errors.New("released by ForceUnlock")
	errDeleted    = errors.New("its semaphore was deleted")
	errExpired    = errors.New("its time ran out")
)

// lostBy is the error of holds that are lost for this cause.
func lostBy(cause error) error { return fmt.Errorf("%w: %w", ErrLeaseLost, cause) }

// eventLock names the hold in an event.
func (h *Hold) eventLock() eventlog.Lock { return eventlog.Lock{Name: h.lock.name, Owner: h.state} }

// Name is the lock's name as it was given to NewLock.
func (h *Hold) Name() string { return h.lock.name }

// Token is the newest fencing token that this client was granted for the hold's owner; 0: none.
func (h *Hold) Token() int64 {
	defer h.lock.shard.enter(mustNotBlock).leave()
	return h.state.rare().token
}

// Done is closed when the hold is over. Each call returns the same channel.
func (h *Hold) Done() <-chan struct{} {
	defer h.lock.shard.enter(mustNotBlock).leave()
	// A loss found here closes a channel that exists already.
	ended := h.check() != nil
	if h.done == nil {
		h.done = make(chan struct{})
		if ended {
			close(h.done)
		}
	}
	return h.done
}

// Err is nil while the lock is held. It reads the clock, and is never late.
func (h *Hold) Err() error {
	defer h.lock.shard.enter(mustNotBlock).leave()
	if why := h.check(); why != nil {
		return overError{h.lock.holding(), h.lock.name, why}
	}
	return nil
}

// overError is why a hold is over, with the lock's name, for callers that have only the error.
// Two of the same hold are equal.
type overError struct {
	what, name string
	cause      error
}

func (e overError) Error() string { return Named(e.what, e.name, e.cause).Error() }

func (e overError) Unwrap() error { return e.cause }

// KeepTaken leaves the lock taken for at least d from now, even if the owner's last hold is released
// before. It is for a hold that its caller has: what is given back because a call failed must not
// keep others out.
func (h *Hold) KeepTaken(d time.Duration) {
	defer h.lock.shard.enter(mustNotBlock).leave()
	if h.ended != nil {
		return // a loss has freed the lock
	}
	extras := h.state.ensureExtras()
	until := clock.Later(h.state.name.Now(), d)
	if extras.keeps == nil {
		extras.keeps = make(map[*Hold]time.Duration, 1)
	}
	extras.keeps[h] = until
	extras.keepUntil = max(extras.keepUntil, until)
}

// keepOwed is the instant until which the lock must stay taken even if this process ends. It
// counts holds that are over, since nothing else keeps their lock, and holds with a fixed lease.
func (st *OwnerState) keepOwed() time.Duration {
	if st.extras == nil {
		return 0
	}
	owed := st.extras.keepOwed
	for h, until := range st.extras.keeps {
		if h.promise.Fixed {
			owed = max(owed, until)
		}
	}
	return owed
}

// ValidUntil is until when exclusion may be trusted without another renewal.
func (h *Hold) ValidUntil() time.Time {
	defer h.lock.shard.enter(mustNotBlock).leave()
	wall := time.Now() // before the clock is read: what passes in between makes the answer earlier, not later
	h.check()
	return wall.Add(h.trust() - h.state.name.Now())
}

// trust is the instant at which trust ends. It is called with the shard locked.
func (h *Hold) trust() time.Duration {
	if h.ended != nil {
		return h.promise.End
	}
	return min(h.own(), h.lease.Expiry())
}

// own is the end of trust in the hold's own lease. While an Extend has no
// answer, it is the earlier end of the old lease and the new one.
func (h *Hold) own() time.Duration {
	if h.extends != nil {
		return min(h.promise.End, h.extends.end)
	}
	return h.promise.End
}

// check ends the hold if its time has passed and nobody has ended it yet (H3), or else
// its contexts if its Margin has begun. It is called with the shard locked.
func (h *Hold) check() error {
	if h.ended != nil {
		return h.ended
	}
	now := h.state.name.Now()
	if now >= h.trust() {
		h.timeIsUp(now)
	}
	if h.ended == nil && h.ctxs != nil {
		h.endEarly(now)
	}
	return h.ended
}

// old is when the hold is due to be logged because of its age; Never if it is not to be logged,
// or was already.
func (h *Hold) old() time.Duration {
	if long := h.lock.Client.LongHold; long > 0 && !h.toldAge {
		return clock.Later(h.since, long)
	}
	return clock.Never
}

// tellAge logs an old hold, once. It is called with the shard locked.
func (h *Hold) tellAge() {
	if now := h.state.name.Now(); now >= h.old() {
		h.toldAge = true
		h.lock.Client.Log.HeldLong(h.lock.shard, h.eventLock(), now-h.since, !h.promise.Fixed && now < h.promise.Until)
	}
}

// over ends the hold. It is called with the shard locked. The caller has taken the hold off its
// owner's list, or does so next.
func (h *Hold) over(cause error) {
	if h.ended != nil {
		return
	}
	trust := h.trust()
	h.promise.End = trust
	if cause == ErrReleased || cause == ErrClosed {
		h.promise.End = min(h.promise.End, h.state.name.Now())
	}
	h.ended = cause
	if x := h.state.extras; x != nil && x.keeps != nil {
		x.keepOwed = max(x.keepOwed, x.keeps[h])
		delete(x.keeps, h)
	}
	h.lock.Client.liveHolds.Done()
	if cause != ErrReleased {
		h.notReleased(cause, trust)
	}
	if h.done != nil {
		close(h.done)
	}
	if h.ctxs != nil {
		h.endContexts(&h.ctxs.early, cause)
		h.endContexts(&h.ctxs.late, cause)
	}
}
