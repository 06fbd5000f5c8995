package acquire

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// waitError is the error of a caller that gives up, with what is known then
// (A6, A7).
func (w *Waiter) waitError(cause error) error {
	facts := w.facts()
	last := facts.Trouble
	if last == nil && (w.attempt != nil || facts.InFlight) {
		// A request that waits to be written does not know yet why it can't be.
		last = w.n.Lock.Client.Exec.Trouble(w.n.Lock.Slot)
	}
	elapsed := cause == w.l.Taken()
	unanswered := w.attempt != nil && w.attempt.unanswered()
	// Without a reply that the lock was taken, the error must not say that it was.
	switch known := !elapsed || w.lastSaidTaken(facts); {
	case unanswered && w.ownerOfOthers():
		err := fmt.Errorf("%w: the last attempt was not answered in time; %s", lockerr.ErrUncertain, w.left())
		if !elapsed {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return withTrouble(err, last)
	case known && elapsed && unanswered:
		return withTrouble(fmt.Errorf("%w: the last attempt was not answered in time; %s", cause, w.left()), last)
	case known && last == nil:
		return w.unsetToo(cause)
	case known:
		return withTrouble(cause, last)
	case last == nil && unanswered:
		return fmt.Errorf("%w: the wait elapsed before an answer came; %s", lockerr.ErrUncertain, w.left())
	case unanswered || w.ownerUsed && command.IsLost(last):
		return fmt.Errorf("%w: the wait elapsed without an answer: %w", lockerr.ErrUncertain, last)
	}
	return fmt.Errorf("the wait elapsed without an answer: %w", w.unsent(last))
}

// ownerOfOthers tells whether others may hold as the owner of w. Then a hold that a lost
// attempt took can't be told from theirs, and is not given back.
func (w *Waiter) ownerOfOthers() bool {
	return w.Terms.As && !w.n.Lock.Client.Exclusive(w.Terms.Owner)
}

// left says what an unanswered attempt may leave on the server.
func (w *Waiter) left() string {
	switch a := w.attempt; {
	case w.l.Traits.Gate:
		return "it changes nothing"
	case a != nil && w.ownerOfOthers():
		return fmt.Sprintf("others may use its owner, which may hold one more than it knows, for %v", a.lease)
	}
	return "whatever it took is given back"
}

// withTrouble adds to err the last trouble, if there was any.
func withTrouble(err, last error) error {
	if last == nil {
		return err
	}
	return fmt.Errorf("%w (last trouble: %w)", err, last)
}

// unsetToo adds to a wait's error that no permits were ever set, if the server said so.
func (w *Waiter) unsetToo(err error) error {
	if q := w.queue(); w.unset || q != nil && q.Unset {
		return fmt.Errorf("%w: no permits were set: TrySetPermits", err)
	}
	return err
}

// lastSaidTaken tells whether the server's last answer was that another owner
// holds the lock.
func (w *Waiter) lastSaidTaken(facts waitqueue.Facts) bool {
	if w.Terms.As && w.n.Holds(w.Terms.Owner) {
		return false // its owner has come to hold it since
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
	return fmt.Errorf("%w: %w; %s", lockerr.ErrUncertain, w.sinceLost(err), w.left())
}

// sinceLost adds to the error of a lost command why there has been no
// connection since.
func (w *Waiter) sinceLost(err error) error {
	if why := w.n.Lock.Client.Exec.Trouble(w.n.Lock.Slot); why != nil && command.IsLost(err) {
		return fmt.Errorf("%w; since then: %w", err, errors.Unwrap(why))
	}
	return err
}
