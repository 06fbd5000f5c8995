package lockstate

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// The errors that package rlock exports under the same names. Its comments say
// what they promise to callers.
var (
	// ErrLocked: another owner holds the lock.
	ErrLocked = errors.New("locked by another owner")

	// ErrNoPermits: fewer permits are free.
	ErrNoPermits = errors.New("too few permits are free")

	// ErrNotOpen: a latch has not opened.
	ErrNotOpen = errors.New("the latch has not opened")

	// ErrNotHeld: the owner does not hold the lock, or not any more.
	ErrNotHeld = errors.New("not held by this owner")

	// ErrReleased: the hold was released before.
	ErrReleased = errors.New("hold already released")

	// ErrLeaseLost: the hold ended before it was released.
	ErrLeaseLost = errors.New("lease lost")

	// ErrUncertain: what a command did could not be found out in time.
	ErrUncertain = errors.New("outcome uncertain")

	// ErrClosed: the client was closed, or is being shut down.
	ErrClosed = errors.New("client closed")

	// ErrInvalidOption: a call that the state it meets does not allow.
	ErrInvalidOption = errors.New("invalid option")

	// ErrUnavailable: no server ran the command in time.
	ErrUnavailable = errors.New("no server ran it in time")

	// ErrRefused: the server answered with an error, or with what is no answer.
	ErrRefused = errors.New("refused by the server")

	// ErrUnreplicated: it ran, and no replica is known to have it.
	ErrUnreplicated = errors.New("no replica acknowledged it")
)

// unreplicated is ErrUnreplicated of r, with why the replicas are waited for that have
// gone.
func unreplicated(r *command.Request) error {
	if acked := r.Wire.Acked; acked > 0 {
		return ofKind{fmt.Errorf("%d of %d replicas acknowledged it, and what it counts does not pass with a lease", acked, r.Wire.Replicas), ErrUnreplicated}
	}
	if doubt := r.Doubt(); doubt != nil {
		return fmt.Errorf("%w, and the master may be about to be replaced: %w", ErrUnreplicated, doubt)
	}
	return ErrUnreplicated
}

// ofKind is an error of a kind that its text does not name.
type ofKind struct {
	error
	kind error
}

func (e ofKind) Is(target error) bool { return target == e.kind }

func (e ofKind) Unwrap() error { return e.error }

// OfKind gives err, how a command ended, one of the kinds that callers can ask
// for. It is for an error that has none yet.
func OfKind(err error) error {
	if said, _ := refusal.Of(err); said.WrongType() {
		err = wrongType{err}
	}
	if _, shape := errors.AsType[*codec.ShapeError](err); !shape && command.Unavailable(err) {
		return ofKind{err, ErrUnavailable}
	}
	return ofKind{err, ErrRefused}
}

// wrongType is a WRONGTYPE of the server's without the script that met it.
type wrongType struct{ error }

func (e wrongType) Error() string {
	return "the key holds a value of another type, which is no lock (WRONGTYPE)"
}

func (e wrongType) Unwrap() error { return e.error }

// Named is an error of a call that names what was being done and to which lock.
func Named(doing, name string, err error) error {
	return fmt.Errorf("rlock: %s %s: %w", doing, Quote(name), err)
}

// Quote shows a name that users chose, cut to a length that a log line bears.
func Quote(s string) string {
	const most = 128
	if len(s) > most {
		return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// lostHold is the loss of a hold as a call reports it that needed the hold.
// It is ErrNotHeld too, which would say the same once more.
func lostHold(err error) error { return ofKind{err, ErrNotHeld} }

// taken is why an acquire that may not wait any more has nothing.
func (l *Lock) taken() error {
	switch {
	case l.traits.Permits:
		return ErrNoPermits
	case l.traits.Gate:
		return ErrNotOpen
	}
	return ErrLocked
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
		return w.unsetToo(cause)
	case last == nil && unanswered:
		return fmt.Errorf("%w: the wait elapsed before an answer came; a grant that still comes is given back", ErrUncertain)
	case unanswered || w.ownerUsed && command.IsLost(last):
		return fmt.Errorf("%w: the wait elapsed without an answer: %w", ErrUncertain, last)
	}
	return fmt.Errorf("the wait elapsed without an answer: %w", w.unsent(last))
}

// unsetToo adds to the error of a wait for permits that nobody has set any.
func (w *Waiter) unsetToo(err error) error {
	if q := w.queue(); w.unset || q != nil && q.unset {
		return fmt.Errorf("%w: no permits were set: TrySetPermits", err)
	}
	return err
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

// notHeld is where Java throws its IllegalMonitorStateException.
func (l *Lock) notHeld(o Owner) error {
	if l.traits.Permits {
		return fmt.Errorf("%w: some or all of its permits had been given up, or their time was over", ErrNotHeld)
	}
	return ofKind{fmt.Errorf("not held by owner %s: it expired, or was deleted, forced or taken before", o.String()), ErrNotHeld}
}

// inPart is the error of a command of which the server's error, met inside its script,
// does not tell what it has done.
func inPart(err error) error {
	return fmt.Errorf("%w: its script met an error, and may have run in part: %w", ErrUncertain, err)
}

// unanswered is why a command has no answer.
func unanswered(r *command.Request) error {
	switch {
	case r.Fate == command.Refused && r.MayHaveRun():
		return inPart(r.Wire.Err)
	case r.Reached() != 0:
		return fmt.Errorf("%w: it was sent and never answered: %w", ErrUncertain, r.Wire.Err)
	case r.Fate == command.Closed:
		return ErrClosed
	}
	return r.Wire.Err
}

// unwritten is why nothing ran of an unlock that waited for others all the time.
func (c *State) unwritten() error {
	return command.Unsent(fmt.Errorf("the unlock was not sent within %v; the key expires by itself", c.o.Timeout))
}

// verdict is the error of the outcome that the release tells.
func (r *releasing) verdict() error {
	failed, o := r.Failed, r.st.owner
	switch r.Verdict {
	case release.NotHeld:
		return r.l.notHeld(o)
	case release.Unreplicated:
		return fmt.Errorf("released, but %w", unreplicated(&r.req))
	case release.ReplicasUnknown:
		return ofKind{errors.New("released, but whether a replica has it is not known"), ErrUnreplicated}
	case release.Refused:
		return failed
	case release.Untold:
		return fmt.Errorf("released, but nobody could be told: %w", failed)
	case release.InPart:
		return inPart(failed)
	case release.Uncertain:
		return r.uncertain()
	case release.Unanswered:
		return fmt.Errorf("%w: the unlock is still without an answer", ErrUncertain)
	case release.Queued:
		return r.queued()
	case release.UnsentSoFar:
		return r.unsentSoFar()
	case release.Expired:
		return fmt.Errorf("not released, the key is left to expire: %w", failed)
	case release.Unreleased:
		return fmt.Errorf("not released: %w", failed)
	case release.Closed:
		return ErrClosed
	case release.Strayed:
		return strayed(o)
	case release.ShownUnkilled:
		return fmt.Errorf("%w: the unlock was lost on a connection that could not be killed, and its owner was handed out meanwhile: %w", ErrUncertain, failed)
	case release.ShownUnknown:
		why := fmt.Sprintf("the owner holds %d, of this hold or of another", r.Reply.N)
		switch err := r.Reply.Err; {
		case err == errUnknowable:
			why = err.Error()
		case err != nil:
			why = fmt.Sprintf("asking for its count failed: %v", err)
		}
		return fmt.Errorf("%w: the unlock was lost, its owner was handed out meanwhile, and %s; if it did not run, the key is left to expire: %w", ErrUncertain, why, failed)
	}
	return nil
}

// queued is told at the limit of an unlock that was not its owner's turn.
func (r *releasing) queued() error {
	waits := fmt.Errorf("an earlier command of owner %s is still without an answer", r.st.owner.String())
	switch {
	case r.Why != release.UnlockAs:
		return fmt.Errorf("%w: %w", ErrUncertain, waits)
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
		return fmt.Errorf("%w: the unlock was sent and is still without an answer; %s", ErrUncertain, then)
	}
	return fmt.Errorf("%w: the unlock was sent and never answered; %s: %w", ErrUncertain, then, r.Failed)
}

// unsentSoFar is what the caller is told at the limit of an unlock of which
// nothing has run.
func (r *releasing) unsentSoFar() error {
	why := cmp.Or(r.Failed, r.l.c.exec.Trouble(r.l.slot), r.l.c.unwritten())
	then := "it goes on in the background while the lease lasts"
	switch {
	case r.Until == clock.Never:
		then = "it goes on in the background"
	case r.Unheld == 0:
		then = "it goes on in the background for a while"
	}
	return fmt.Errorf("not released so far, %s: %w", then, why)
}

// releasedLate is the outcome of the unlock of a hold that had been lost.
func (h *Hold) releasedLate(wasLost, err error) error {
	if errors.Is(err, ErrNotHeld) {
		err = fmt.Errorf("nothing was left to release for owner %s", h.st.owner.String())
	} else if err == nil {
		err = errors.New("its key was still there and is released")
	}
	return lostHold(fmt.Errorf("%w; %w", wasLost, err))
}
