package lockstate

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// waitError is the error of a caller that gives up, with what is known then
// (A6, A7).
func (w *Waiter) waitError(cause error) error {
	facts := w.facts()
	last := facts.Trouble
	if last == nil && (w.attempt != nil || facts.InFlight) {
		// A request that waits to be written does not know yet why it can't be.
		last = w.n.l.c.Exec.Trouble(w.n.l.Slot)
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
	return w.Terms.As && !w.n.l.c.Exclusive(w.Terms.Owner)
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
	if w.Terms.As && w.n.holds(w.Terms.Owner) {
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
	if why := w.n.l.c.Exec.Trouble(w.n.l.Slot); why != nil && command.IsLost(err) {
		return fmt.Errorf("%w; since then: %w", err, errors.Unwrap(why))
	}
	return err
}

// unwritten is the error of an unlock that was never written, because it waited behind other
// commands until its limit.
func (c *State) unwritten() error {
	return command.Unsent(fmt.Errorf("the unlock was not sent within %v", c.Timeout))
}

// verdict is the error for the release's Verdict.
func (r *releasing) verdict() error {
	failed, o := r.Failed, r.st.owner
	switch r.Verdict {
	case release.NotHeld:
		return r.l.NotHeld(o)
	case release.Unreplicated:
		return fmt.Errorf("released, but %w", lockerr.Unreplicated(&r.req))
	case release.ReplicasUnknown:
		return lockerr.OfKind(errors.New("released, but whether a replica has it is not known"), lockerr.ErrUnreplicated)
	case release.Refused:
		return failed
	case release.Untold:
		return fmt.Errorf("released, but nobody could be told: %w", failed)
	case release.InPart:
		return lockerr.InPart(failed)
	case release.Uncertain:
		return r.uncertain()
	case release.Unanswered:
		return fmt.Errorf("%w: the unlock is still without an answer", lockerr.ErrUncertain)
	case release.Queued:
		return r.queued()
	case release.UnsentSoFar:
		return r.unsentSoFar()
	case release.Expired:
		then := "the key is left to expire"
		if r.st.held > 0 {
			then = "the owner's next unlock releases it too"
		}
		return fmt.Errorf("not released, %s: %w", then, failed)
	case release.Unreleased:
		return fmt.Errorf("not released: %w", failed)
	case release.Closed:
		return lockerr.ErrClosed
	case release.Strayed:
		return owner.Strayed(o)
	case release.ShownUnkilled:
		return fmt.Errorf("%w: the unlock was lost on a connection that could not be killed, and its owner was handed out meanwhile: %w", lockerr.ErrUncertain, failed)
	case release.ShownUnknown:
		why := fmt.Sprintf("the owner holds %d, of this hold or of another", r.Reply.N)
		switch err := r.Reply.Err; {
		case err == errUnknowable:
			why = err.Error()
		case err != nil:
			why = fmt.Sprintf("asking for its count failed: %v", err)
		}
		return fmt.Errorf("%w: the unlock was lost, its owner was handed out meanwhile, and %s; if it did not run, the key is left to expire: %w", lockerr.ErrUncertain, why, failed)
	}
	return nil
}

// queued is the error at the limit of an unlock that still waited for an earlier command of its
// owner, or for the read of the TTL.
func (r *releasing) queued() error {
	waits := fmt.Errorf("an earlier command of owner %s is still without an answer", r.st.owner.String())
	switch {
	case r.Why != release.UnlockAs:
		return fmt.Errorf("%w: %w", lockerr.ErrUncertain, waits)
	case r.Question == release.TTL:
		waits = errors.New("the read of the TTL is still without an answer")
	}
	return fmt.Errorf("not released: %w", command.Unsent(waits))
}

func (r *releasing) uncertain() error {
	then := "if it did not run, the key is left to expire"
	if r.Form.Once() && !r.l.c.Closed() && r.st.n.now() <= r.Until {
		then = "it is repeated while the lease lasts"
	}
	if r.Failed == nil {
		return fmt.Errorf("%w: the unlock was sent and is still without an answer; %s", lockerr.ErrUncertain, then)
	}
	return fmt.Errorf("%w: the unlock was sent and never answered; %s: %w", lockerr.ErrUncertain, then, r.Failed)
}

// unsentSoFar is the error at the limit of an unlock of which nothing has run.
func (r *releasing) unsentSoFar() error {
	why := cmp.Or(r.Failed, r.l.c.Exec.Trouble(r.l.Slot), r.l.c.unwritten())
	then := "it goes on in the background while the lease lasts"
	if r.Until == clock.Never {
		then = "it goes on in the background"
	}
	return fmt.Errorf("not released so far, %s: %w", then, why)
}

// releasedLate is the outcome of the unlock of a hold that had been lost.
func (h *Hold) releasedLate(wasLost, err error) error {
	if errors.Is(err, lockerr.ErrNotHeld) {
		err = fmt.Errorf("nothing was left to release for owner %s", h.st.owner.String())
	} else if err == nil {
		err = errors.New("its key was still there and is released")
	}
	return lockerr.Lost(fmt.Errorf("%w; %w", wasLost, err))
}
