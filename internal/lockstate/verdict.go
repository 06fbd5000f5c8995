package lockstate

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/release"
)

var errUnwritten = command.Unsent(errors.New("it waited behind an earlier command of its owner, and then to be written"))

// verdict is the error of the outcome that the release tells.
func (r *releasing) verdict() error {
	failed, o := r.Failed, r.st.owner
	switch r.Verdict {
	case release.NotHeld:
		return notHeld(o)
	case release.Unreplicated:
		return fmt.Errorf("released, but %w", ErrUnreplicated)
	case release.ReplicasUnknown:
		return errReplicasNotKnown
	case release.Refused:
		return failed
	case release.InPart:
		return fmt.Errorf("released, but the server did not finish the script: %w", failed)
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
	case release.Unannounced:
		return fmt.Errorf("%w: the unlock was lost, and the owner holds nothing any more; whether the unlock released it can't be told where nothing can be announced: %w", ErrUncertain, r.Reply.Err)
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
	waits := fmt.Errorf("an earlier command of owner %s is still without an answer", r.st.owner)
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
	if once := r.Form == release.Once || r.Form == release.Alone; once && !r.l.c.Closed() && r.st.n.now() <= r.Until {
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
	why := r.Failed
	if why == nil {
		if why = r.l.c.exec.Trouble(r.l.slot); why == nil {
			why = errUnwritten
		}
	}
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
	switch {
	case err == nil:
		return lostHold{fmt.Errorf("%w; its key was still there and is released", wasLost)}
	case errors.Is(err, ErrNotHeld):
		return lostHold{fmt.Errorf("%w; nothing was left to release for owner %s", wasLost, h.st.owner)}
	}
	return lostHold{fmt.Errorf("%w; %w", wasLost, err)}
}
