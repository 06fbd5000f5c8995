package lockstate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
)

// UnlockAs releases one hold of an owner that has no Hold in this client, as
// the public method says.
func (l *Lock) UnlockAs(ctx context.Context, owner Owner) error {
	r, outcome, err := l.startUnlockAs(owner)
	if err != nil {
		return err
	}
	err = l.await(ctx, r, outcome)
	l.logReleasedAs(ctx, owner, err)
	return err
}

// logReleasedAs logs how such an unlock ended.
func (l *Lock) logReleasedAs(ctx context.Context, owner Owner, err error) {
	switch log := l.c.log; {
	case !log.On(ctx, slog.LevelWarn):
	case err != nil:
		log.Unreleased(ctx, eventlog.Lock{Name: l.name, Owner: ownerArg(owner)}, errors.Is(err, ErrUncertain), err)
	case log.On(ctx, slog.LevelDebug):
		log.ReleasedAs(ctx, eventlog.Lock{Name: l.name, Owner: ownerArg(owner)})
	}
}

// startUnlockAs starts an unlock of which nothing is known here.
func (l *Lock) startUnlockAs(owner Owner) (r *release, outcome chan error, err error) {
	if err := l.c.act(l, owner); err != nil {
		return nil, nil, err
	}
	s := l.s
	defer s.enter(mayBlock).leave()
	if l.c.Closed() {
		return nil, nil, ErrClosed
	}
	n := s.pin(l)
	defer n.unpin()
	st := n.ensureShown(owner)
	if st.held > 0 || st.attempts > 0 {
		return nil, nil, fmt.Errorf("%w: owner %s has a Hold in this client; release that", ErrInvalidOption, owner)
	}
	outcome = l.c.spares.outcomes.get()
	u := &unlockAs{r: newRelease(st, l, n.unlockLimit())}
	u.r.outcome = outcome
	u.r.referenced = true
	u.waits = fmt.Errorf("an earlier command of owner %s is still without an answer", owner)
	l.c.releases.Add()
	u.r.limitTimer = l.c.timers.After(max(u.r.limit-n.now(), 0)+time.Millisecond, u.tooLate)
	st.run(u)
	return u.r, outcome, nil
}

// unlockAs is a release that has to ask for the key's TTL first, since the
// unlock sets it.
type unlockAs struct {
	r     *release
	waits error // what it waits for, until it is sent
}

// begin asks for the TTL. It runs with the shard locked, in the owner's command
// queue.
func (u *unlockAs) begin() {
	u.waits = errors.New("the read of the TTL is still without an answer")
	st := u.r.st
	if u.r.reported {
		st.done()
		return
	}
	if st.n.l.c.actors.strays.has(st.owner) {
		u.r.finish(strayed(st.owner)) // an unlock of it has been lost since this one began to wait
		return
	}
	u.r.l.askLater(u.r.l.kind.Ask(nil, kind.RemainTTL, &u.r.want), u.r.limit, u.answered)
}

// answered sends the unlock.
func (u *unlockAs) answered(reply any, err error) {
	r, st := u.r, u.r.st
	c := st.n.l.c
	defer st.n.l.s.enter(mustNotBlock).leave()
	var left kind.Answer
	if err == nil {
		left, err = r.l.kind.Asked(kind.RemainTTL, reply)
	}
	switch {
	case r.reported:
		st.done()
	case err != nil && (errors.Is(err, ErrClosed) || c.Closed()):
		r.finish(ErrClosed)
	case err != nil:
		r.finish(unreleased(err))
	default:
		r.leave(max(left.TTL, c.o.Watchdog))
		r.begin()
	}
}

// tooLate tells the caller what is known when the limit has passed.
func (u *unlockAs) tooLate() {
	r := u.r
	sec := r.st.n.l.s.enter(mayBlock)
	defer sec.leave()
	switch {
	case r.reported || sec.now() <= r.limit:
	case !r.req.Begun():
		r.report(unreleased(command.Unsent(u.waits)))
	case r.paused && !r.req.Reached():
		r.report(unreleased(r.failed))
	default:
		r.report(fmt.Errorf("%w: the unlock is still without an answer", ErrUncertain))
	}
}

// unreleased is the end of an unlock of which nothing was sent.
func unreleased(err error) error { return fmt.Errorf("not released: %w", err) }
