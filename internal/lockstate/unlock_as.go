package lockstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
)

// UnlockAs releases one hold of an owner that has no Hold in this client, as
// the public method says.
func (l *Lock) UnlockAs(ctx context.Context, owner Owner) error {
	s := l.shard()
	s.lock()
	if l.c.Closed() {
		s.unlock()
		return ErrClosed
	}
	n := s.pin(l)
	st := n.ensureOwnerState(owner)
	if st.held > 0 || st.attempts > 0 {
		n.unpin()
		s.unlock()
		return fmt.Errorf("%w: owner %s has a Hold in this client; release that", ErrInvalidOption, owner)
	}
	outcome := outcomes.Get().(chan error)
	r := newRelease(st, l.c.unlockLimit())
	r.outcome = outcome
	l.c.releases.add()
	r.referenced = true
	waits := fmt.Errorf("an earlier command of owner %s is still without an answer", owner)
	r.limitTimer = l.c.after(max(r.req.Until-l.c.now(), 0)+time.Millisecond, func() {
		s.lock()
		defer s.unlock()
		switch {
		case r.reported || l.c.now() <= r.req.Until:
		case !r.req.Begun():
			r.report(unreleased(command.Unsent(waits)))
		default:
			r.report(fmt.Errorf("%w: the unlock is still without an answer", ErrUncertain))
		}
	})
	st.run(operationFunc(func() {
		waits = errors.New("the read of the TTL is still without an answer")
		if r.reported {
			st.done()
			return
		}
		l.c.read("PTTL", []any{n.l.key}, r.req.Until, func(reply any, err error) {
			s.lock()
			defer s.unlock()
			var ttl time.Duration
			if err == nil {
				ttl, _, err = codec.DecodeTTL(reply)
			}
			switch {
			case r.reported:
				st.done()
			case err != nil && (errors.Is(err, ErrClosed) || l.c.Closed()):
				r.finish(ErrClosed)
			case err != nil:
				r.finish(unreleased(err))
			default:
				r.lease = max(ttl, l.c.o.Watchdog)
				r.begin()
			}
		})
	}))
	n.unpin()
	s.unlock()
	l.c.exec.Flush()
	err := await(ctx, l.c, outcome)
	l.c.log.releasedAs(ctx, l, owner, err)
	return err
}

// unreleased is the end of an unlock of which nothing was sent.
func unreleased(err error) error { return fmt.Errorf("not released: %w", err) }
