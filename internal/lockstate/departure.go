package lockstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// giveUp ends the wait for its caller: cause is the error of its ctx, or
// Lock.taken when the wait has elapsed. An attempt under way goes on, and what
// it is granted is given back. It is called with the shard locked.
func (w *Waiter) giveUp(cause error) (*Hold, error) {
	n := w.n
	if w.Settled {
		h, elapsed := w.hold, cause == w.l.taken()
		switch {
		case h == nil && w.err == nil && elapsed: // a gate was opened, or it has taken what nobody owns
			return nil, nil
		case h == nil && w.err == nil:
			if w.taken {
				w.undoTaken()
			}
			return nil, cause
		case h == nil && (elapsed || errors.Is(w.err, cause)):
			return nil, w.err
		case h == nil:
			return nil, fmt.Errorf("%w: %w", cause, w.err)
		case elapsed:
			<-w.ready     // its wake-up is there, and must not wake the next user of w
			return h, nil // it was granted in time, and nobody else has it (A6)
		}
		// Cancellation beats a simultaneous grant (A4).
		w.hold = nil
		h.giveBack()
		return nil, cause
	}
	a := w.attempt
	cancelled := a != nil && a.cancel()
	err := w.waitError(cause)
	w.queue().Leave(&w.Waiter)
	if cancelled {
		a.unsent()
	}
	w.leaveServer()
	n.step()
	return nil, err
}

// waitError is the error of a caller that gives up, with what is known then
// (A6, A7).
func (w *Waiter) waitError(cause error) error {
	facts := w.facts()
	last := facts.Trouble
	if last == nil && (w.attempt != nil || facts.InFlight) {
		// A request that waits to be written does not know yet why it can't be.
		last = w.n.l.c.exec.Trouble(w.n.l.slot)
	}
	elapsed := cause == w.l.taken()
	unanswered := w.attempt != nil && w.attempt.unanswered()
	// A server that has not said "taken" has not said "locked".
	switch known := !elapsed || w.lastSaidTaken(facts); {
	case known && last != nil:
		return fmt.Errorf("%w (last trouble: %w)", cause, last)
	case known && elapsed && unanswered:
		return fmt.Errorf("%w (the last attempt was not answered in time; a grant that still comes is given back)", cause)
	case known:
		return cause
	case last == nil && unanswered:
		return fmt.Errorf("%w: the wait elapsed before an answer came; a grant that still comes is given back", ErrUncertain)
	case unanswered || w.ownerUsed && command.IsLost(last):
		return fmt.Errorf("%w: the wait elapsed without an answer: %w", ErrUncertain, last)
	}
	return fmt.Errorf("the wait elapsed without an answer: %w", w.unsent(last))
}

// lastSaidTaken tells whether the server's last answer was that another owner
// holds the lock.
func (w *Waiter) lastSaidTaken(facts waitqueue.Facts) bool {
	if w.Terms.As && w.n.holds(w.Terms.Owner) {
		return false // since then its owner came to hold it
	}
	return facts.Told || facts.Known
}

// unsent says why no attempt of the waiter has run. last is the last trouble,
// or nil.
func (w *Waiter) unsent(last error) error {
	var why error
	switch a := w.attempt; {
	case a != nil && a.inCommandQueue():
		why = fmt.Errorf("an earlier command of owner %s is still without an answer", w.Terms.Owner.String())
	case a == nil && (command.IsLost(last) || w.facts().InFlight):
		why = errors.New("an earlier caller's attempt is still without an answer")
	case last != nil && !command.IsLost(last):
		return last
	case a != nil:
		why = errors.New("it still waits to be written")
	default:
		why = errors.New("it was not its turn yet")
	}
	if last != nil {
		why = fmt.Errorf("%w (%w)", why, w.sinceLost(last))
	}
	return command.Unsent(why)
}

// unreachable is the error of a waiter that never had an answer and whose
// trouble has lasted for a command timeout.
func (w *Waiter) unreachable(err error) error {
	unanswered := w.attempt != nil && w.attempt.unanswered()
	switch {
	case !command.IsLost(err) && !unanswered:
		return err
	case !w.ownerUsed:
		return w.unsent(err)
	}
	return fmt.Errorf("%w: %w; whatever it took is being given back", ErrUncertain, w.sinceLost(err))
}

// sinceLost adds to the error of a lost command why there has been no
// connection since.
func (w *Waiter) sinceLost(err error) error {
	if why := w.n.l.c.exec.Trouble(w.n.l.slot); why != nil && command.IsLost(err) {
		return fmt.Errorf("%w; since then: %w", err, errors.Unwrap(why))
	}
	return err
}

// logResult logs how the wait ended.
func (w *Waiter) logResult(ctx context.Context, h *Hold, err error) {
	c, l := w.l.c, eventlog.Lock{Name: w.n.l.name}
	if !c.log.On(ctx, slog.LevelDebug) {
		return
	}
	waited := max(c.now()-w.began, 0)
	switch {
	case err != nil:
		c.log.NotAcquired(ctx, l, waited, Named("acquire", l.Name, err))
	case h == nil:
		c.log.LetThrough(ctx, l, waited, w.tries)
	default:
		l.Owner = h.st
		c.log.Acquired(ctx, l, waited, w.tries, cmp.Or(w.Terms.Lease, c.o.Watchdog), w.Terms.Lease == 0)
	}
}

// asked notes that the server was asked in the waiter's name and did not grant.
func (w *Waiter) asked() {
	w.refused = true
	if w.Settled {
		w.leaveServer()
	}
}

// leaveServer leaves nothing of a waiter that gives up after a refusal. Where
// another caller waits for the same owner, that one still needs it.
func (w *Waiter) leaveServer() {
	if !w.refused {
		return
	}
	w.refused = false
	n := w.n
	owner := w.acquirer()
	want := w.want(owner)
	call := w.l.kind.Leave(&want)
	if call.Empty() || w.Terms.As && w.waitsWithOthers() {
		return
	}
	st, l := n.ensureOwnerState(owner), w.l
	n.l.c.work.Add()
	st.run(operationFunc(func() {
		l.leaveServer(call, func() {
			n.l.c.work.Done()
			st.done()
		})
	}))
}

// waitsWithOthers tells whether another caller waits for the owner of w, which
// acts by As.
func (w *Waiter) waitsWithOthers() bool {
	q := w.queue()
	if q == nil {
		return false
	}
	for other := range q.All() {
		if o := other.Call.(*Waiter); o != w && o.Terms.As && o.Terms.Owner == w.Terms.Owner {
			return true
		}
	}
	return false
}
