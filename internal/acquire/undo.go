package acquire

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/unlock"
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
	st, late := a.st, a.req.MayArrive
	// The waiter gets nothing from this attempt. The next one is made when the first undo has
	// been answered.
	l, want := a.w.l, a.want
	u := unlock.Undo(st, l, &want, func(err error) {
		unlock.LogUndone(st, l, err)
		if late {
			unlock.UndoRepeatedly(st, l, &want, a.lease)
		}
		a.resolve()
	})
	a.left = true // the undo has the command queue
	u.Start()
}

// countHolds asks how many holds the owner has on the server, after an acquire with As was lost
// and its connection killed. The server counts the holds that this client knows of, those of
// others that use the same owner, and one more if the acquire ran. None of the three is
// negative, so:
//
//   - 0: the owner holds nothing, whoever else uses it, so the acquire did not run.
//   - As many as this client knows of: the acquire did not run, and nobody else holds. This is
//     wrong only if it did run and somebody else released one of this client's holds meanwhile.
//     Then another attempt makes the count one too high, which keeps others out and lets nobody
//     in.
//   - One more: the acquire ran, or somebody else holds once. Undoing it may release the
//     other's hold. So it is undone only if nobody else can hold: the owner is this client's
//     and never left it (Client.Exclusive). That is checked after the reply. If the owner left
//     before the count, the check notices; if it leaves later, the count is understood already.
//   - Anything else: the outcome remains unknown (A5).
func (a *attempt) countHolds() {
	st, w, n := a.st, a.w, a.st.Name
	if a.req.MayArrive {
		st.MayArrive(a.lease)
		a.undecided("its connection could not be killed")
		return
	}
	ask := w.l.Kind.Ask(kind.HoldCount, &a.want)
	if ask.Empty() {
		a.undecided("what it did can't be known")
		return
	}
	reply, err := n.Lock.Shard.Ask(&n.Lock.Client.Client, n.Lock.Slot, ask.Call, watchdog.Never)
	if err != nil {
		a.undecided(fmt.Sprintf("asking for its count failed: %v", err))
		return
	}
	answer, err := ask.Answer(reply)
	count, known := answer.N, int64(st.Tally(&w.l.Lock)+unlock.Unsent(st, &w.l.Lock))
	switch {
	case err != nil:
		a.undecided(err.Error())
	case count == 0:
		// It did not run, and what this client held is gone as well.
		if known > 0 {
			st.Lose(&w.l.Lock, state.ErrVanished)
		}
		a.resumeAs()
	case st.Rare().StillCounted > 0:
		a.undecided(fmt.Sprintf("the owner holds %d, of which some are of leases that ended and were not unlocked", count))
	case count == known:
		a.resumeAs()
	case count == known+1 && n.Lock.Client.Exclusive(st.Owner):
		u := unlock.Vain(st, w.l, func(err error) {
			unlock.LogUndone(st, w.l, err)
			if err != nil && !errors.Is(err, lockerr.ErrNotHeld) {
				w.fail(fmt.Errorf("%w: a lost acquire could not be undone: %w", lockerr.ErrUncertain, err))
			}
			a.resumeAs()
		})
		a.left = true // the undo has the command queue
		u.Start()
	default:
		a.undecided(fmt.Sprintf("the owner holds %d where this client knows of %d, and others may use it", count, known))
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
	n := a.st.Name
	n.Lock.Client.Log.Undecided(n.Lock.Shard, a.st.Told(), why)
	a.w.fail(fmt.Errorf("%w: the acquire was sent and never answered, and %s; the owner may hold one more than it knows, for %v", lockerr.ErrUncertain, why, a.lease))
	a.w.asked()
	a.unsent()
}

// giveBackFirst gives a grant back and goes on for the waiter only after that,
// so that the waiter's next attempt is not refused by this grant.
func (a *attempt) giveBackFirst(h *state.Hold, then func()) {
	unlock.GiveBackThen(h, then)
	a.left = true
	a.st.Done()
}

// leaveRoom is called before an unreplicated grant is given back. That grant kept others out
// for a time, and the next grant of this client would do so again. So attempts that were not
// written yet are taken back, except those of callers that make only one.
func (a *attempt) leaveRoom(kept time.Duration) {
	q := a.queue()
	q.GivesBack(a.st.Name.Now(), kept)
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
// deleted when the caller has what it asked for, or kept for a failover (unlock.RememberTaken).

// taken gives the waiter what the attempt has taken. It gives that back instead if the waiter
// has left, or if the acquire was not replicated.
func (a *attempt) taken(r *command.Request) {
	w, n := a.w, a.st.Name
	switch {
	case r.Unreplicated:
		err := lockerr.Unreplicated(r)
		n.Lock.Client.Log.Unreplicated(n.Lock.Shard, a.st.Told(), r.Wire.Replicas, err)
		a.undoFirst(func() { a.retryLater(err) })
	case w.Settled: // its caller has left
		a.undoFirst(a.unsent)
	default:
		w.taken, w.takenAt = true, r.Wire.Sent
		n.Lock.Client.Work.Add() // the caller may not want it any more: Close must leave it the time for the undo
		a.reportGrant()
		a.end()
	}
}

// undoFirst is giveBackFirst for what nobody owns.
func (a *attempt) undoFirst(then func()) {
	st := a.st
	a.left = true // the undo has the command queue
	unlock.Undo(st, a.w.l, &kind.Want{}, func(err error) {
		unlock.LogGivenBack(st, err)
		then()
	}).Start()
}

// undoTaken gives back what the waiter's attempt has taken and its caller does not get.
func (w *Waiter) undoTaken() {
	w.taken = false
	n := w.l.Shard.Pin(w.l)
	defer n.Unpin()
	st := n.EnsureOwnerState(w.owner)
	st.Run(unlock.Undo(st, w.l, &kind.Want{}, func(err error) { unlock.LogGivenBack(st, err) }))
}
