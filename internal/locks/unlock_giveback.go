package locks

import (
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/release"
	"github.com/rlock-go/redisson/internal/observe"
)

// undoEvery is how often an undo is repeated where the server refuses to
// kill the connection that an acquire was lost on.
const undoEvery = time.Second

// undone counts the undo of a lost acquire, and tells the log and the observer how it ended.
func undone(st *OwnerState, l *Lock, err error) {
	c, s := l.Client, st.name.lock.shard
	e := observe.Event{Of: observe.Undone, Subject: l.subject(st.Owner), How: "undone", Err: err}
	switch {
	case errors.Is(err, ErrNotHeld):
		e.How, e.Err = "nothing", nil
	case err != nil:
		e.How = "failed"
	default:
		c.counts[l.Traits.Label].undone.Add(1)
	}
	if e.Err != nil {
		c.Log.UndoFailed(s, st.eventLock(), err)
	} else {
		c.Log.Undone(s, st.eventLock(), err == nil)
	}
	if c.Observer != nil {
		c.post(e)
	}
}

// undo makes the release of what an acquire with this want may have got.
func undo(st *OwnerState, l *Lock, want *kind.Want, then func(error)) operation {
	// It has no limit but the end of the client: its owner is used once, so it can be repeated
	// even after its latch has expired.
	u := newRelease(st, release.Undo, l, clock.Never)
	u.then = then
	if l.Traits.ByOwner && !want.OneTry {
		u.place = &placeTaken{wait: want.Wait}
	}
	return u
}

// undoRepeatedly repeats the undo of an acquire that may still arrive, for as long as its lease.
func undoRepeatedly(st *OwnerState, l *Lock, want *kind.Want, lease time.Duration) {
	n := st.name
	n.lock.Client.Log.UndoRepeats(n.lock.shard, st.eventLock(), undoEvery, lease)
	until := clock.Later(n.Now(), lease)
	n.lock.Client.timers.After(undoEvery, func() { undoAgain(st, l, want, until) })
}

// undoAgain repeats the undo of an acquire that may still arrive.
func undoAgain(st *OwnerState, l *Lock, want *kind.Want, until time.Duration) {
	n := st.name
	defer n.lock.shard.enter(mayBlock).leave()
	if n.lock.Client.Closed() {
		return
	}
	n = n.lock.shard.pin(l)
	defer n.unpin()
	marked := st.marked
	st = n.ensureOwnerState(st.Owner)
	st.marked = st.marked || marked
	st.run(undo(st, l, want, func(err error) {
		if err == nil {
			undone(st, l, err)
		}
		if n.Now() < until {
			n.lock.Client.timers.After(undoEvery, func() { undoAgain(st, l, want, until) })
		}
	}))
}

// behind is how many unlocks of holds that were living when they were called wait in the owner's
// command queue. The server counts these holds together with those of l's kind; if l is nil, of
// any kind.
func behind(st *OwnerState, l *Lock) (n int32) {
	if st.extras == nil {
		return 0
	}
	for _, cmd := range st.extras.queue {
		if r, ok := cmd.(*releasing); ok && r.living && (l == nil || r.l.Traits.Tally == l.Traits.Tally) {
			n++
		}
	}
	return n
}

// logGivenBack logs how the release of an unwanted grant ended.
func logGivenBack(st *OwnerState, err error) {
	s := st.name.lock.shard
	if err == nil || errors.Is(err, ErrNotHeld) {
		st.name.lock.Client.Log.GivenBack(s, st.eventLock())
		return
	}
	st.name.lock.Client.Log.NotGivenBack(s, st.eventLock(), err)
}

// giveBack releases a hold that no caller has. It is called with the shard
// locked.
func giveBack(h *Hold) {
	n := h.state.name
	giveBackThen(h, func() {
		// Without a subscription the waiters would not notice the release.
		for q := range n.eachQueue {
			q.GivenBack()
		}
		n.step()
	})
}

// giveBackThen is giveBack for a waiter, whose next attempt must not be refused by this very grant:
// it is made by then.
func giveBackThen(h *Hold, then func()) {
	endAndUnlock(h, func(err error) {
		logGivenBack(h.state, err)
		then()
	}, new(observedUnlock))
}

// retract makes the release of a hold that a lost acquire may have taken as an owner that is used
// again. It is not sent if others may act as the owner.
func retract(st *OwnerState, l *Lock, then func(error)) operation {
	u := newRelease(st, release.Retract, l, st.name.Now()+l.Client.unlockFor)
	u.then = then
	return u
}
