package locks

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// undo gives back what a lost acquire may have got for a fresh owner. If that is nothing, it
// changes nothing. If the connection of the acquire could not be killed, the acquire may run
// after the undo, so the undo is repeated for one lease. It is called with the shard locked, in
// the owner's command queue.
func (a *attempt) undo() {
	if a.w.l.Traits.Gate {
		a.resolve() // an attempt at a gate takes nothing
		return
	}
	if a.req.Spare() {
		a.undoSpare()
		return
	}
	st, late := a.st, a.req.MayArrive
	// The waiter gets nothing from this attempt. The next one is made when the first undo has
	// been answered.
	l, want := a.w.l, a.want
	u := undo(st, l, &want, func(err error) {
		undone(st, l, err)
		if late {
			undoRepeatedly(st, l, &want, a.lease)
		}
		a.resolve()
	})
	a.left = true // the undo has the command queue
	u.Start()
}

// retract gives back what a lost acquire with As may have got. While only this client can act as
// the owner, the release leaves the owner as many holds as this client knows of, whatever the
// acquire did.
func (a *attempt) retract() {
	st, w := a.st, a.w
	switch {
	case a.req.MayArrive:
		st.mayArrive(a.lease)
		a.undecided("its connection could not be killed")
	case w.l.Client.Exclusive(st.Owner):
		u := retract(st, w.l, func(err error) {
			undone(st, w.l, err)
			if err != nil && !errors.Is(err, ErrNotHeld) {
				w.fail(fmt.Errorf("%w: a lost acquire could not be undone: %w", ErrUncertain, err))
			}
			a.resumeAs()
		})
		a.left = true // the undo has the command queue
		u.Start()
	default:
		a.countHolds()
	}
}

// countHolds asks how many holds a foreign owner has on the server, after an acquire was lost and
// its connection killed. The server counts the holds that this client needs, those whose leases
// ended by themselves, those of other clients, and one more if the acquire ran. If they are none,
// or only those that this client needs, the acquire did not run. Anything else may be another
// client's, so the outcome remains unknown (A5).
func (a *attempt) countHolds() {
	st, w, n := a.st, a.w, a.st.name
	ask := w.l.kind.Ask(kind.HoldCount, &a.want)
	if ask.Empty() {
		a.undecided("what it did can't be known")
		return
	}
	reply, err := n.lock.shard.ask(n.lock.slot, ask.Call, watchdog.Never)
	if err != nil {
		a.undecided(fmt.Sprintf("asking for its count failed: %v", err))
		return
	}
	answer, err := ask.Answer(reply)
	count, needs := answer.N, int64(st.tally(w.l)+behind(st, w.l))
	switch {
	case err != nil:
		a.undecided(err.Error())
	case count == 0:
		// It did not run, and what this client held is gone as well.
		if needs > 0 {
			st.lose(w.l, errVanished)
		}
		a.resumeAs()
	case count == needs:
		a.resumeAs()
	default:
		a.undecided(fmt.Sprintf("the owner holds %d where this client knows of %d, and others may use it", count, needs))
	}
}

// resumeAs is resolve for a shared owner, when the outcome of the attempt is known.
func (a *attempt) resumeAs() {
	a.w.ownerUsed = false
	a.w.asked()
	a.resolve()
}

// undecided ends an attempt whose outcome can't be found out.
func (a *attempt) undecided(why string) {
	n := a.st.name
	n.lock.Client.Log.Undecided(n.lock.shard, a.st.eventLock(), why)
	a.w.fail(fmt.Errorf("%w: the acquire was sent and never answered, and %s; the owner may hold one more than it knows, for %v", ErrUncertain, why, a.lease))
	a.w.asked()
	a.unsent()
}

// giveBackFirst gives a grant back and goes on for the waiter only after that,
// so that the waiter's next attempt is not refused by this grant.
func (a *attempt) giveBackFirst(h *Hold, then func()) {
	giveBackThen(h, then)
	a.left = true
	a.st.done()
}

// leaveRoom is called before an unreplicated grant is given back. That grant kept others out
// for a time, and the next grant of this client would do so again. So attempts that were not
// written yet are taken back, except those of callers that make only one.
func (a *attempt) leaveRoom(kept time.Duration) {
	q := a.queue()
	q.GivesBack(a.st.name.Now(), kept)
	var back []*attempt
	for w := range q.All() {
		if other := w.Call.(*Waiter).attempt; !w.OneTry && other != nil && other != a && other.cancel() {
			back = append(back, other)
		}
	}
	for _, other := range back {
		other.unsent()
	}
}

// What nobody owns, such as a permit of a semaphore, is counted only on the server
// (kind.Traits.Unowned). An acquire leaves a receipt, so that it can be undone even if its
// reply is lost: however often the undo is sent, what was taken comes back once. The receipt is
// deleted when the caller has what it asked for, or kept for a failover (rememberTaken).

// taken gives the waiter what the attempt has taken. It gives that back instead if the waiter
// has left, or if the acquire was not replicated.
func (a *attempt) taken(r *command.Request) {
	w, n := a.w, a.st.name
	switch {
	case r.Unreplicated:
		err := unreplicated(r)
		w.vain = err
		n.lock.Client.Log.Unreplicated(n.lock.shard, a.st.eventLock(), r.Wire.Replicas, err)
		a.undoFirst(func() { a.retryLater(err) })
	case w.Settled: // its caller has left
		a.undoFirst(a.unsent)
	default:
		w.taken, w.takenAt, w.takenOf, w.takenFar = true, r.Wire.Sent, r.Wire.Reply, r.Spare()
		n.lock.Client.work.Add() // the caller may not want it any more: Close must leave it the time for the undo
		a.reportGrant()
		a.end()
	}
}

// undoFirst is giveBackFirst for what nobody owns.
func (a *attempt) undoFirst(then func()) {
	st := a.st
	if a.req.Spare() {
		giveTakenLater(st, a.w.l, then)
		return
	}
	a.left = true // the undo has the command queue
	undo(st, a.w.l, &kind.Want{}, func(err error) {
		logGivenBack(st, err)
		then()
	}).Start()
}

// undoSpare is undo for an acquire whose receipt is in another slot (command.Request.Spare).
func (a *attempt) undoSpare() {
	l, st, c := a.w.l, a.st, a.w.l.Client
	c.Go(func() {
		ran, err := c.exec.Settle(&a.req)
		if ran {
			err = giveTaken(l)
		}
		defer st.name.lock.shard.enter(mayBlock).leave()
		if !ran && err == nil {
			err = ErrNotHeld
		}
		undone(st, l, err)
		a.resolve()
	})
}

// giveTakenLater gives back what was taken with a receipt in another slot.
func giveTakenLater(st *OwnerState, l *Lock, then func()) {
	l.Client.Go(func() {
		err := giveTaken(l)
		defer l.shard.enter(mayBlock).leave()
		logGivenBack(st, err)
		then()
	})
}

// undoTaken gives back what the waiter's attempt has taken and its caller does not get.
func (w *Waiter) undoTaken() {
	w.taken = false
	n := w.l.shard.pin(w.l)
	defer n.unpin()
	st := n.ensureOwnerState(w.owner)
	if w.takenFar {
		n.lock.Client.work.Add()
		giveTakenLater(st, w.l, n.lock.Client.work.Done)
		return
	}
	st.run(undo(st, w.l, &kind.Want{}, func(err error) { logGivenBack(st, err) }))
}
