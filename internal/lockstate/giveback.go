package lockstate

import (
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
)

// undoEvery is how often an undo is repeated where the server refuses to
// kill the connection that an acquire was lost on.
const undoEvery = time.Second

// logUndone logs how the undo of a lost acquire ended.
func (st *OwnerState) logUndone(l *Lock, err error) {
	l.undid(st.owner, err)
	s := st.n.l.s
	if err != nil && !errors.Is(err, lockerr.ErrNotHeld) {
		st.n.l.c.Log.UndoFailed(s, st.told(), err)
		return
	}
	st.n.l.c.Log.Undone(s, st.told(), err == nil)
}

// newUndo makes the release of what an acquire with this want may have got.
func (st *OwnerState) newUndo(l *Lock, want *kind.Want, then func(error)) operation {
	// It has no limit but the end of the client: its owner is used once, so it can be repeated
	// even after its latch has expired.
	u := st.newRelease(release.Undo, l, clock.Never)
	u.then = then
	if l.Traits.ByOwner && !want.OneTry {
		u.place = &placeTaken{want.Wait}
	}
	return u
}

// undoRepeatedly repeats the undo of an acquire that may still arrive, for as long as its lease.
func (st *OwnerState) undoRepeatedly(l *Lock, want *kind.Want, lease time.Duration) {
	n := st.n
	n.l.c.Log.UndoRepeats(n.l.s, st.told(), undoEvery, lease)
	until := clock.Later(n.now(), lease)
	n.l.c.Timers.After(undoEvery, func() { st.undoAgain(l, want, until) })
}

// undoAgain repeats the undo of an acquire that may still arrive.
func (st *OwnerState) undoAgain(l *Lock, want *kind.Want, until time.Duration) {
	n := st.n
	defer n.l.s.Enter(section.MayBlock).Leave()
	if n.l.c.Closed() {
		return
	}
	n = n.l.s.pin(l)
	defer n.unpin()
	marked := st.marked
	st = n.ensureOwnerState(st.owner)
	st.marked = st.marked || marked
	st.run(st.newUndo(l, want, func(err error) {
		if err == nil {
			st.logUndone(l, err)
		}
		if n.now() < until {
			n.l.c.Timers.After(undoEvery, func() { st.undoAgain(l, want, until) })
		}
	}))
}

// unsent is how many unlocks wait in the command queue, or have ended and never ran, whose
// holds the server still counts together with those of l's kind.
func (st *OwnerState) unsent(l *core.Lock) (n int32) {
	rare := st.rare()
	for _, cmd := range rare.queue {
		if r, ok := cmd.(*releasing); ok && r.counted && r.l.Traits.Tally == l.Traits.Tally {
			n++
		}
	}
	for _, of := range rare.unrun {
		if of.Traits.Tally == l.Traits.Tally {
			n++
		}
	}
	return n
}

// logGivenBack logs how the release of an unwanted grant ended.
func (st *OwnerState) logGivenBack(err error) {
	s := st.n.l.s
	if err == nil || errors.Is(err, lockerr.ErrNotHeld) {
		st.n.l.c.Log.GivenBack(s, st.told())
		return
	}
	st.n.l.c.Log.NotGivenBack(s, st.told(), err)
}

// giveBack releases a hold that no caller has. It is called with the shard
// locked.
func (h *Hold) giveBack() {
	n := h.st.n
	h.giveBackThen(func() {
		// Without a subscription the waiters would not notice the release.
		for q := range n.EachQueue {
			q.GivenBack()
		}
		n.Step()
	})
}

// giveBackThen is giveBack for a waiter, whose next attempt must not be refused by this very grant:
// it is made by then.
func (h *Hold) giveBackThen(then func()) {
	h.endAndUnlock(func(err error) {
		h.st.logGivenBack(err)
		then()
	}, new(observedUnlock))
}

// newVain makes the release of a hold that a lost acquire took as an owner that is used again. If
// it were repeated after its latch had expired, it would release another hold.
func (st *OwnerState) newVain(l *Lock, then func(error)) operation {
	u := st.newRelease(release.Vain, l, st.n.now()+l.c.UnlockFor)
	u.then = then
	return u
}
