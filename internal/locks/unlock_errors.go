package locks

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/locks/release"
)

// unwritten is the error of an unlock that was never written, because it waited behind other
// commands until its limit.
func unwritten(c *Client) error {
	return command.Unsent(fmt.Errorf("it waited behind other commands for %v", c.Timeout))
}

// verdict is the error for the release's Verdict.
func (r *releasing) verdict() error {
	failed, o := r.Failed, r.st.Owner
	switch r.Verdict {
	case release.NotHeld:
		return r.l.notHeld(o)
	case release.Unreplicated:
		return fmt.Errorf("released, but %w", unreplicated(&r.req))
	case release.ReplicasUnknown:
		return ofKind(errors.New("released, but whether a replica has it is not known"), ErrUnreplicated)
	case release.Refused:
		return failed
	case release.Unannounced:
		return unannounced("released", failed)
	case release.InPart:
		return inPart(failed)
	case release.Uncertain:
		return r.uncertain()
	case release.Unanswered:
		return fmt.Errorf("%w: it was sent and is still without an answer", ErrUncertain)
	case release.Queued:
		return r.queued()
	case release.UnsentSoFar:
		return r.unsentSoFar()
	case release.Expired:
		then := "the key is left to expire"
		if r.st.held > 0 {
			then = "the owner's last unlock releases it too"
		}
		return fmt.Errorf("not released, %s: %w", then, failed)
	case release.Unreleased:
		return fmt.Errorf("not released: %w", failed)
	case release.Closed:
		return ErrClosed
	case release.Strayed:
		return strayed(o)
	case release.Foreign:
		why := "its owner's text was given away meanwhile, so it is not repeated; if it did not run, the key is left to expire"
		if failed == nil {
			return fmt.Errorf("%w: %s", ErrUncertain, why)
		}
		return fmt.Errorf("%w: it was lost, and %s: %w", ErrUncertain, why, failed)
	}
	return nil
}

// queued is the error at the limit of an unlock that still waited for an earlier command of its
// owner, or for the read of the TTL.
func (r *releasing) queued() error {
	waits := fmt.Errorf("an earlier command %s is still without an answer", r.l.whose(r.st.Owner))
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
	case r.Form != release.Own || r.l.Client.Closed() || r.st.name.Now() > r.Until:
	case r.needs() > 0:
		then = "if it did not run, the owner's last unlock releases it too"
	default:
		then = "it is repeated while the lease lasts"
	}
	if r.Failed == nil {
		return fmt.Errorf("%w: it was sent and is still without an answer; %s", ErrUncertain, then)
	}
	return fmt.Errorf("%w: it was sent and never answered; %s: %w", ErrUncertain, then, r.Failed)
}

// unsentSoFar is the error at the limit of an unlock of which nothing has run. A server that refuses it
// for now does not make that ErrRefused, of which nothing is sent later.
func (r *releasing) unsentSoFar() error {
	why := cmp.Or(r.Failed, r.l.Client.exec.Trouble(r.l.slot), unwritten(r.l.Client))
	then := "it goes on in the background while the lease lasts"
	if r.Until == clock.Never {
		then = "it goes on in the background"
	}
	return ofKind(fmt.Errorf("not released so far, %s: %w", then, why), ErrUnavailable)
}

// releasedLate is the outcome of the unlock of a hold that had been lost.
func releasedLate(h *Hold, wasLost, err error) error {
	if errors.Is(err, ErrNotHeld) {
		err = fmt.Errorf("nothing was left to release %s", h.lock.whose(h.state.Owner))
	} else if err == nil {
		err = errors.New("its key was still there and is released")
	}
	return lost(fmt.Errorf("%w; %w", wasLost, err))
}
