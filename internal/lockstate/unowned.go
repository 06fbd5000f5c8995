package lockstate

import (
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// What nobody owns is counted on the server and nowhere else (kind.Traits.Unowned). An
// acquire leaves a receipt, by which it is undone, whatever has become of its reply:
// however often that is sent, what was taken comes back once. The receipt is deleted
// when the caller has what it asked for.

// taken gives its waiter what the attempt has taken. What nobody wants any more is
// given back.
func (a *attempt) taken(r *command.Request) {
	w, n := a.w, a.st.n
	switch {
	case r.Unreplicated:
		n.l.c.log.Unreplicated(&n.l.s.sec, a.st.told(), r.Wire.Replicas)
		a.undoFirst(func() { a.retryLater(ErrUnreplicated) })
	case w.Settled: // its caller has left
		a.undoFirst(a.unsent)
	default:
		w.taken = true
		a.reportGrant()
		a.end()
	}
}

// undoFirst is giveBackFirst of what nobody owns.
func (a *attempt) undoFirst(then func()) {
	a.st.undoTaken(a.w.l, then)
	a.left = true // it is the undo's
}

// undoTaken gives back what the waiter has been told of, and does not take.
func (w *Waiter) undoTaken() {
	w.taken = false
	n := w.l.s.pin(w.l)
	defer n.unpin()
	st := n.ensureOwnerState(w.owner)
	st.run(operationFunc(func() { st.undoTaken(w.l, func() {}) }))
}

// undoTaken gives back what an acquire of st has taken, in its command queue. It is
// called with the shard locked.
func (st *OwnerState) undoTaken(l *Lock, then func()) {
	u := st.newUndo(l, &kind.Want{})
	u.then = func(err error) {
		st.logGivenBack(err)
		then()
	}
	u.begin()
}
