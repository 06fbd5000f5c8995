package unlock

import (
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
)

// undoEvery is how often an undo is repeated where the server refuses to
// kill the connection that an acquire was lost on.
const undoEvery = time.Second

// LogUndone logs how the undo of a lost acquire ended.
func LogUndone(st *state.OwnerState, l *state.Lock, err error) {
	undid(l, st.Owner, err)
	s := st.Name.Lock.Shard
	if err != nil && !errors.Is(err, lockerr.ErrNotHeld) {
		st.Name.Lock.Client.Log.UndoFailed(s, st.Told(), err)
		return
	}
	st.Name.Lock.Client.Log.Undone(s, st.Told(), err == nil)
}

// Undo makes the release of what an acquire with this want may have got.
func Undo(st *state.OwnerState, l *state.Lock, want *kind.Want, then func(error)) state.Operation {
	// It has no limit but the end of the client: its owner is used once, so it can be repeated
	// even after its latch has expired.
	u := newRelease(st, release.Undo, l, clock.Never)
	u.then = then
	if l.Traits.ByOwner && !want.OneTry {
		u.place = &state.PlaceTaken{Wait: want.Wait}
	}
	return u
}

// UndoRepeatedly repeats the undo of an acquire that may still arrive, for as long as its lease.
func UndoRepeatedly(st *state.OwnerState, l *state.Lock, want *kind.Want, lease time.Duration) {
	n := st.Name
	n.Lock.Client.Log.UndoRepeats(n.Lock.Shard, st.Told(), undoEvery, lease)
	until := clock.Later(n.Now(), lease)
	n.Lock.Client.Timers.After(undoEvery, func() { undoAgain(st, l, want, until) })
}

// undoAgain repeats the undo of an acquire that may still arrive.
func undoAgain(st *state.OwnerState, l *state.Lock, want *kind.Want, until time.Duration) {
	n := st.Name
	defer n.Lock.Shard.Enter(section.MayBlock).Leave()
	if n.Lock.Client.Closed() {
		return
	}
	n = n.Lock.Shard.Pin(l)
	defer n.Unpin()
	marked := st.Marked
	st = n.EnsureOwnerState(st.Owner)
	st.Marked = st.Marked || marked
	st.Run(Undo(st, l, want, func(err error) {
		if err == nil {
			LogUndone(st, l, err)
		}
		if n.Now() < until {
			n.Lock.Client.Timers.After(undoEvery, func() { undoAgain(st, l, want, until) })
		}
	}))
}

// Behind is how many unlocks of holds that were living when they were called wait in the owner's
// command queue. The server counts these holds together with those of l's kind; if l is nil, of
// any kind.
func Behind(st *state.OwnerState, l *core.Lock) (n int32) {
	if st.Extras == nil {
		return 0
	}
	for _, cmd := range st.Extras.Queue {
		if r, ok := cmd.(*releasing); ok && r.living && (l == nil || r.l.Traits.Tally == l.Traits.Tally) {
			n++
		}
	}
	return n
}

// LogGivenBack logs how the release of an unwanted grant ended.
func LogGivenBack(st *state.OwnerState, err error) {
	s := st.Name.Lock.Shard
	if err == nil || errors.Is(err, lockerr.ErrNotHeld) {
		st.Name.Lock.Client.Log.GivenBack(s, st.Told())
		return
	}
	st.Name.Lock.Client.Log.NotGivenBack(s, st.Told(), err)
}

// GiveBack releases a hold that no caller has. It is called with the shard
// locked.
func GiveBack(h *state.Hold) {
	n := h.State.Name
	GiveBackThen(h, func() {
		// Without a subscription the waiters would not notice the release.
		for q := range n.EachQueue {
			q.GivenBack()
		}
		n.Step()
	})
}

// GiveBackThen is GiveBack for a waiter, whose next attempt must not be refused by this very grant:
// it is made by then.
func GiveBackThen(h *state.Hold, then func()) {
	endAndUnlock(h, func(err error) {
		LogGivenBack(h.State, err)
		then()
	}, new(observed))
}

// Retract makes the release of a hold that a lost acquire may have taken as an owner that is used
// again. It is not sent if others may act as the owner.
func Retract(st *state.OwnerState, l *state.Lock, then func(error)) state.Operation {
	u := newRelease(st, release.Retract, l, st.Name.Now()+l.Client.UnlockFor)
	u.then = then
	return u
}
