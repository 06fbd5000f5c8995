package lockstate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// stopTimers stops those that tell the caller at a limit.
func (r *release) stopTimers() {
	t := &r.l.c.timers
	t.Cancel(r.limitTimer)
	t.Cancel(r.queueTimer)
}

// callersLimit is when the caller is told, whatever is known.
func (r *release) callersLimit() time.Duration {
	if r.once || r.split || !r.req.Begun() {
		return r.limit
	}
	return r.req.Until
}

// reportAtLimit has the caller told at the limit. The server may stay away; the
// caller need not.
func (r *release) reportAtLimit() {
	n := r.st.n
	if r.limit == watchdog.Never || r.limitTimer != nil {
		return
	}
	r.limitTimer = n.l.c.timers.After(max(r.callersLimit()-n.now(), 0)+time.Millisecond, func() {
		defer n.l.s.enter(mayBlock).leave()
		r.reportIfLate()
	})
}

// reportIfLate tells the caller what is known when the limit has passed. What
// waits to be written is taken back. It is called with the shard locked.
func (r *release) reportIfLate() {
	c := r.st.n.l.c
	switch {
	case r.reported || r.st.n.now() <= r.callersLimit(): // Close runs all timers at once
	case !r.req.Begun():
		r.report(fmt.Errorf("%w: an earlier command of owner %s is still without an answer", ErrUncertain, r.st.owner))
	case r.req.Reached():
		r.report(r.uncertain())
	case (r.once || r.split) && (r.paused || c.exec.Waiting(&r.req)):
		r.report(r.unsentSoFar())
	case r.once || r.split:
		r.report(fmt.Errorf("%w: the unlock is still without an answer", ErrUncertain))
	case c.exec.Cancel(&r.req):
		if r.failed == nil {
			r.failed = errUnwritten
		}
		r.expire()
	default:
		r.report(fmt.Errorf("%w: the unlock is still without an answer", ErrUncertain))
	}
}

// announce follows a repetition that found neither its hold nor its latch. The
// send that was lost did not run, and the hold was over before; or it was refused
// at its announcement, behind the DEL, and left no latch. The announcement by
// itself tells the two apart, and wakes who was not told.
func (r *release) announce() {
	n := r.st.n
	r.referenced = true
	ask := r.l.kind.Ask(nil, kind.Announced, &r.want)
	r.l.askLater(ask, clock.Later(n.now(), n.l.c.o.Timeout), func(_ any, err error) {
		defer n.l.s.enter(mustNotBlock).leave()
		if err != nil {
			r.finish(fmt.Errorf("%w: the unlock was lost, and the owner holds nothing any more; whether the unlock released it can't be told where nothing can be announced: %w", ErrUncertain, err))
			return
		}
		r.finish(notHeld(r.st.owner))
	})
}

var errUnwritten = command.Unsent(errors.New("it waited behind an earlier command of its owner, and then to be written"))

// expire ends a release whose limit has passed or whose client was closed.
func (r *release) expire() {
	switch {
	case r.req.Reached():
		r.finish(r.uncertain())
	case r.st.n.l.c.Closed():
		r.finish(ErrClosed)
	default:
		r.finish(fmt.Errorf("not released, the key is left to expire: %w", r.failed))
	}
}

func (r *release) uncertain() error {
	then := "if it did not run, the key is left to expire"
	if r.once && !r.st.n.l.c.Closed() && r.st.n.now() <= r.req.Until {
		then = "it is repeated while the lease lasts"
	}
	if r.failed == nil {
		return fmt.Errorf("%w: the unlock was sent and is still without an answer; %s", ErrUncertain, then)
	}
	return fmt.Errorf("%w: the unlock was sent and never answered; %s: %w", ErrUncertain, then, r.failed)
}

// unsentSoFar is what the caller is told at the limit of an unlock of which
// nothing has run.
func (r *release) unsentSoFar() error {
	why := r.failed
	if why == nil {
		if why = r.st.n.l.c.exec.Trouble(r.l.slot); why == nil {
			why = errUnwritten
		}
	}
	then := "it goes on in the background while the lease lasts"
	switch {
	case r.req.Until == clock.Never:
		then = "it goes on in the background"
	case r.unheld == 0:
		then = "it goes on in the background for a while"
	}
	return fmt.Errorf("not released so far, %s: %w", then, why)
}

// logReleased logs how the unlock ended.
func (h *Hold) logReleased(ctx context.Context, err error) {
	c := h.l.c
	switch {
	case err != nil:
		c.log.Unreleased(ctx, h.told(), errors.Is(err, ErrUncertain), err)
	case c.log.On(ctx, slog.LevelDebug):
		c.log.Released(ctx, h.told(), c.now()-h.since)
	}
}
