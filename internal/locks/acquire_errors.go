package locks

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// waitError is the error of a caller that gives up, with what is known then
// (A6, A7).
func (w *Waiter) waitError(cause error) error {
	facts := w.facts()
	last := facts.Trouble
	if last == nil && (w.attempt != nil || facts.InFlight) {
		// A request that waits to be written does not know yet why it can't be.
		last = w.n.lock.Client.exec.Trouble(w.n.lock.slot)
	}
	elapsed, over := cause == w.l.Taken(), "the wait elapsed"
	told := w.lastSaidTaken(facts)
	unanswered := w.attempt != nil && w.attempt.unanswered()
	// Without a reply that the lock was taken, the error must not say that it was.
	known := !elapsed || told
	if cause == errUnanswered {
		elapsed, known, over = true, false, "a command timeout passed"
		if w.vain != nil {
			return w.vain
		}
	}
	if told {
		cause = w.refusedWith(cause)
	}
	switch {
	case unanswered && w.ownerOfOthers():
		err := fmt.Errorf("%w: the last attempt was not answered in time; %s", ErrUncertain, w.left())
		if !elapsed {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return WithTrouble(err, last)
	case known && elapsed && unanswered:
		return WithTrouble(fmt.Errorf("%w: the last attempt was not answered in time; %s", w.unsetToo(cause), w.left()), last)
	case known:
		return WithTrouble(w.unsetToo(cause), last)
	case last == nil && unanswered:
		return fmt.Errorf("%w: %s before an answer came; %s", ErrUncertain, over, w.left())
	case unanswered || w.ownerUsed && command.IsLost(last):
		return fmt.Errorf("%w: %s without an answer: %w", ErrUncertain, over, last)
	}
	return fmt.Errorf("%s without an answer: %w", over, w.unsent(last))
}

// ownerOfOthers tells whether others may hold as the owner of w. Then a hold that a lost
// attempt took can't be told from theirs, and is not given back.
func (w *Waiter) ownerOfOthers() bool {
	return w.Terms.As && !w.n.lock.Client.Exclusive(w.Terms.Owner)
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

// refusedWith adds to a wait's error what is known of the lock that it did not get.
func (w *Waiter) refusedWith(err error) error {
	if w.l.Taken() != ErrLocked {
		return err
	}
	e := takenError{error: err, ttl: w.ttl}
	if q := w.queue(); q != nil {
		e.ttl = cmp.Or(q.ttl, e.ttl)
	}
	if !w.OneTry {
		e.waited = (w.n.Now() - w.began).Round(time.Millisecond)
	}
	if e.here = w.n.holders > 0; e.here {
		e.again = !w.Terms.As && w.l.Traits.NoUpgrade == nil && w.l.Traits.Label != kind.NonReentrantLabel
	}
	return e
}

// takenError is the error of a wait that was refused. Its text is made when it is asked for, since
// most callers ask only what it is.
type takenError struct {
	error                     // ErrLocked, or that of the context
	waited      time.Duration // for how long the call was refused; 0: it made one attempt
	ttl         time.Duration // of the key, by the server's last reply; 0: not known; below 0: it never expires
	here, again bool          // this client holds the lock; its owner could enter again
}

func (e takenError) Error() string {
	var known []string
	switch {
	case e.again:
		known = append(known, "this client holds it, and only a call with As that owner enters again")
	case e.here:
		known = append(known, "this client holds it")
	default:
		if e.waited > 0 {
			known = append(known, fmt.Sprintf("refused for %v", e.waited))
		}
		if e.ttl < 0 {
			known = append(known, "it never expires")
		} else if e.ttl > 0 {
			known = append(known, fmt.Sprintf("its last known TTL was %v", e.ttl))
		}
	}
	if len(known) == 0 {
		return e.error.Error()
	}
	return fmt.Sprintf("%v: %s", e.error, strings.Join(known, ", "))
}

func (e takenError) Unwrap() error { return e.error }

// unsetToo adds to a wait's error that the semaphore does not exist, if the server said so.
func (w *Waiter) unsetToo(err error) error {
	if q := w.queue(); w.unset || q != nil && q.unset {
		return fmt.Errorf("%w: none were set with TrySetPermits, or the semaphore was deleted", err)
	}
	return err
}

// lastSaidTaken tells whether the server's last answer was that another owner
// holds the lock.
func (w *Waiter) lastSaidTaken(facts waitqueue.Facts) bool {
	if w.Terms.As && w.n.holds(w.Terms.Owner) {
		return false // its owner has come to hold it since
	}
	return facts.Refused || facts.Known
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
		why = fmt.Errorf("it waited for a connection to %s", w.l.server())
	default:
		why = fmt.Errorf("it waited behind others before its first attempt at %s", w.l.server())
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
	return fmt.Errorf("%w: %w; %s", ErrUncertain, w.sinceLost(err), w.left())
}

// sinceLost adds to the error of a lost command why there has been no
// connection since.
func (w *Waiter) sinceLost(err error) error {
	if why := w.n.lock.Client.exec.Trouble(w.n.lock.slot); why != nil && command.IsLost(err) {
		return fmt.Errorf("%w; since then: %w", err, errors.Unwrap(why))
	}
	return err
}
