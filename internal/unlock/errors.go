package unlock

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/state"
)

// unwritten is the error of an unlock that was never written, because it waited behind other
// commands until its limit.
func unwritten(c *state.Client) error {
	return command.Unsent(fmt.Errorf("the unlock was not sent within %v", c.Timeout))
}

// verdict is the error for the release's Verdict.
func (r *releasing) verdict() error {
	failed, o := r.Failed, r.st.Owner
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
		return lockerr.Unannounced("released", failed)
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
		if r.st.Held > 0 {
			then = "the owner's last unlock releases it too"
		}
		return fmt.Errorf("not released, %s: %w", then, failed)
	case release.Unreleased:
		return fmt.Errorf("not released: %w", failed)
	case release.Closed:
		return lockerr.ErrClosed
	case release.Strayed:
		return owner.Strayed(o)
	case release.Foreign:
		why := "its owner's text was given away meanwhile, so it is not repeated; if it did not run, the key is left to expire"
		if failed == nil {
			return fmt.Errorf("%w: %s", lockerr.ErrUncertain, why)
		}
		return fmt.Errorf("%w: the unlock was lost, and %s: %w", lockerr.ErrUncertain, why, failed)
	}
	return nil
}

// queued is the error at the limit of an unlock that still waited for an earlier command of its
// owner, or for the read of the TTL.
func (r *releasing) queued() error {
	waits := fmt.Errorf("an earlier command of owner %s is still without an answer", r.st.Owner.String())
	switch {
	case r.Why != release.UnlockAs:
		return fmt.Errorf("not released so far: %w", command.Unsent(waits))
	case r.Question == release.TTL:
		waits = errors.New("the read of the TTL is still without an answer")
	}
	return fmt.Errorf("not released: %w", command.Unsent(waits))
}

func (r *releasing) uncertain() error {
	then := "if it did not run, the key is left to expire"
	switch {
	case r.Form != release.Own || r.l.Client.Closed() || r.st.Name.Now() > r.Until:
	case r.needs() > 0:
		then = "if it did not run, the owner's last unlock releases it too"
	default:
		then = "it is repeated while the lease lasts"
	}
	if r.Failed == nil {
		return fmt.Errorf("%w: the unlock was sent and is still without an answer; %s", lockerr.ErrUncertain, then)
	}
	return fmt.Errorf("%w: the unlock was sent and never answered; %s: %w", lockerr.ErrUncertain, then, r.Failed)
}

// unsentSoFar is the error at the limit of an unlock of which nothing has run.
func (r *releasing) unsentSoFar() error {
	why := cmp.Or(r.Failed, r.l.Client.Exec.Trouble(r.l.Slot), unwritten(r.l.Client))
	then := "it goes on in the background while the lease lasts"
	if r.Until == clock.Never {
		then = "it goes on in the background"
	}
	return fmt.Errorf("not released so far, %s: %w", then, why)
}

// releasedLate is the outcome of the unlock of a hold that had been lost.
func releasedLate(h *state.Hold, wasLost, err error) error {
	if errors.Is(err, lockerr.ErrNotHeld) {
		err = fmt.Errorf("nothing was left to release for owner %s", h.State.Owner.String())
	} else if err == nil {
		err = errors.New("its key was still there and is released")
	}
	return lockerr.Lost(fmt.Errorf("%w; %w", wasLost, err))
}
