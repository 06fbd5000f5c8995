package state

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/lease"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/watchdog"
)

// Hold is one acquisition of a lock. All methods are safe for concurrent use.
type Hold struct {
	// Face is the public hold that this one is a part of, so that a grant can be
	// handed out without an allocation. It never changes.
	Face any

	Lock  *Lock
	State *OwnerState
	Lease *watchdog.Lease // the registration it belongs to; each registration is a generation (H5)

	// Guarded by the shard's mutex.
	Since    time.Duration // when its acquire was sent
	next     *Hold         // in its owner's list of living holds
	Promise  lease.Promise // once the hold is over, its End is ValidUntil
	Ended    error         // nil while held
	done     chan struct{} // closed when it is over; nil until asked for
	ctxs     *contexts     // that end with the hold; nil: there are none, and no Margin
	Extends  *Extending    // an Extend that may be running; nil: none
	Released bool          // Unlock was called
	toldAge  bool          // it was logged because of its age
}

// Extending is an Extend under way, as its hold knows it.
type Extending struct {
	Req command.Request
	For time.Duration // the new lease
	End time.Duration // when trust in the new lease ends, while a send may be running
}

// Why a hold is lost.
var (
	ErrVanished   = errors.New("the server says that the owner holds nothing any more")
	errSuperseded = errors.New("the server has granted the lock to another owner")
	ErrForced     = errors.New("released by ForceUnlock")
	ErrExpired    = errors.New("its time ran out")
)

// LostBy is the error of holds that are lost for this cause.
func LostBy(cause error) error { return fmt.Errorf("%w: %w", lockerr.ErrLeaseLost, cause) }

// Told names the hold in an event.
func (h *Hold) Told() eventlog.Lock { return eventlog.Lock{Name: h.Lock.Name(), Owner: h.State} }

// Name is the lock's name as it was given to NewLock.
func (h *Hold) Name() string { return h.Lock.Name() }

// Token is the newest fencing token that this client was granted for the hold's owner; 0: none.
func (h *Hold) Token() int64 {
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	return h.State.Rare().Token
}

// Done is closed when the hold is over. Each call returns the same channel.
func (h *Hold) Done() <-chan struct{} {
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	// A loss found here closes a channel that exists already.
	ended := h.Check() != nil
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
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if why := h.Check(); why != nil {
		return overError{h.Lock.Name(), why}
	}
	return nil
}

// overError is why a hold is over, with the lock's name, for callers that have only the error.
// Two of the same hold are equal.
type overError struct {
	name  string
	cause error
}

func (e overError) Error() string { return lockerr.Named("hold", e.name, e.cause).Error() }

func (e overError) Unwrap() error { return e.cause }

// KeepTaken leaves the lock taken for at least d from now, even if the owner's last hold is released
// before. It is for a hold that its caller has: what is given back because a call failed must not
// keep others out.
func (h *Hold) KeepTaken(d time.Duration) {
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	if h.Ended != nil {
		return // a loss has freed the lock
	}
	extras := h.State.EnsureExtras()
	until := clock.Later(h.State.Name.Now(), d)
	if extras.keeps == nil {
		extras.keeps = make(map[*Hold]time.Duration, 1)
	}
	extras.keeps[h] = until
	extras.KeepUntil = max(extras.KeepUntil, until)
}

// keepOwed is until when the lock must stay taken though this process may end. A hold that is over
// has no other way to keep it, and one with a fixed lease was promised it.
func (st *OwnerState) keepOwed() time.Duration {
	if st.Extras == nil {
		return 0
	}
	owed := st.Extras.keepOwed
	for h, until := range st.Extras.keeps {
		if h.Promise.Fixed {
			owed = max(owed, until)
		}
	}
	return owed
}

// ValidUntil is until when exclusion may be trusted without another renewal.
func (h *Hold) ValidUntil() time.Time {
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	wall := time.Now() // before the clock is read: what passes in between makes the answer earlier, not later
	h.Check()
	return wall.Add(h.Trust() - h.State.Name.Now())
}

// Trust is the instant at which trust ends. It is called with the shard locked.
func (h *Hold) Trust() time.Duration {
	if h.Ended != nil {
		return h.Promise.End
	}
	return min(h.own(), h.Lease.Expiry())
}

// own is the end of trust in the hold's own lease. While an Extend has no
// answer, it is the earlier end of the old lease and the new one.
func (h *Hold) own() time.Duration {
	if h.Extends != nil {
		return min(h.Promise.End, h.Extends.End)
	}
	return h.Promise.End
}

// Check ends the hold if its time has passed and nobody has ended it yet (H3), or else
// its contexts if its Margin has begun. It is called with the shard locked.
func (h *Hold) Check() error {
	if h.Ended != nil {
		return h.Ended
	}
	now := h.State.Name.Now()
	if now >= h.Trust() {
		h.timeIsUp(now)
	}
	if h.Ended == nil {
		h.endEarly(now)
	}
	return h.Ended
}

// old is when the hold is due to be logged because of its age; Never if it is not to be logged,
// or was already.
func (h *Hold) old() time.Duration {
	if long := h.Lock.Client.LongHold; long > 0 && !h.toldAge {
		return clock.Later(h.Since, long)
	}
	return clock.Never
}

// tellAge logs an old hold, once. It is called with the shard locked.
func (h *Hold) tellAge() {
	if now := h.State.Name.Now(); now >= h.old() {
		h.toldAge = true
		h.Lock.Client.Log.HeldLong(h.Lock.Shard, h.Told(), now-h.Since, !h.Promise.Fixed && now < h.Promise.Until)
	}
}

// Over ends the hold. It is called with the shard locked. The caller has taken the hold off its
// owner's list, or does so next.
func (h *Hold) Over(cause error) {
	if h.Ended != nil {
		return
	}
	trust := h.Trust()
	h.Promise.End = trust
	if cause == lockerr.ErrReleased || cause == lockerr.ErrClosed {
		h.Promise.End = min(h.Promise.End, h.State.Name.Now())
	}
	h.Ended = cause
	if x := h.State.Extras; x != nil && x.keeps != nil {
		x.keepOwed = max(x.keepOwed, x.keeps[h])
		delete(x.keeps, h)
	}
	h.Lock.Client.LiveHolds.Done()
	if cause != lockerr.ErrReleased {
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
