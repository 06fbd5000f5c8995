package lockstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// Change sends what changes the object and is no owner's, such as how many permits
// there are, and returns the reply. call makes it of a Want without an owner, and keeps
// its result in Want.Latch, the receipt: it is sent again when its reply is lost, and
// counts once. It is sent for as long as an unlock. When ctx is over, it is taken back or
// has one command timeout more. What is due, as a release is, is sent even if ctx is over,
// and taken back only when the time is over that it has then.
func (l *Lock) Change(ctx context.Context, due bool, call func(*kind.Want) kind.Call) (any, error) {
	if err := ctx.Err(); err != nil && !due {
		return nil, err
	}
	c := l.c
	g := &change{l: l, done: make(chan struct{})}
	g.want = kind.Want{Names: &l.names, Latch: codec.FreshLatch(l.Key()), LatchTTL: c.args.latchTTL, Publish: l.publish()}
	g.start(call(&g.want))
	select {
	case <-g.done:
		return g.req.Wire.Reply, g.err
	case <-ctx.Done():
	}
	if !due && g.takeBack() {
		return nil, ctx.Err()
	}
	// What can't be taken back at once may be on its way back, or being written.
	for _, most := range []time.Duration{c.o.Timeout, c.o.Timeout / 8} {
		select {
		case <-g.done:
			return g.req.Wire.Reply, g.err
		case <-time.After(most):
		}
		if g.takeBack() {
			return nil, cmp.Or(c.exec.Trouble(l.slot), command.Unsent(errors.New("it waited to be written")))
		}
	}
	return nil, fmt.Errorf("%w: no answer within %v after the context ended: %w", ErrUncertain, c.o.Timeout, ctx.Err())
}

// Read is Change for a call that any number of times may run, without a receipt. It
// waits for at most a command timeout.
func (l *Lock) Read(ctx context.Context, call func(*kind.Want) kind.Call) (any, error) {
	return l.c.query(ctx, l.slot, call(&kind.Want{Names: &l.names, Publish: l.publish()}))
}

// change is one Change on its way.
type change struct {
	req   command.Request
	l     *Lock
	want  kind.Want
	began time.Duration
	done  chan struct{} // closed when err is set, and the reply is there
	err   error

	// Guarded by the shard's mutex.
	paused bool // it is sent again after a pause
	ended  bool
}

// start sends it for the first time.
func (g *change) start(call kind.Call) {
	l := g.l
	defer l.s.enter(mayBlock).leave()
	g.began = l.s.sec.now()
	l.c.fill(&g.req, l.slot, call)
	g.req.Handler, g.req.Resend, g.req.Aside, g.req.Until = g, call.Resend, true, g.began+l.c.unlockFor
	l.c.work.Add()
	g.send()
}

// send is called with the shard locked.
func (g *change) send() {
	g.paused = false
	if !g.ended && !g.l.s.sec.enqueue(&g.req) {
		g.end(g.verdict())
	}
}

// takeBack reports whether nothing of it runs: it was not sent so far, and is not sent
// any more.
func (g *change) takeBack() bool {
	defer g.l.s.enter(mustNotBlock).leave()
	if g.ended || g.req.Reached() != 0 || !g.paused && !g.l.c.exec.Cancel(&g.req) {
		return false
	}
	g.end(nil)
	return true
}

// Unanswered does nothing: it is sent again behind the kill barrier.
func (g *change) Unanswered(*command.Request) {}

// Paused has it sent again after d. What no server has run for a command timeout is
// given up.
func (g *change) Paused(r *command.Request, d time.Duration) {
	l := g.l
	defer l.s.enter(mustNotBlock).leave()
	switch {
	case d == 0:
		g.send()
	case r.Reached() == 0 && l.s.sec.now()-g.began >= l.c.o.Timeout:
		g.end(r.Wire.Err)
	default:
		g.paused = true
		l.c.timers.After(d, func() {
			defer l.s.enter(mayBlock).leave()
			g.send()
		})
	}
}

// Done takes the end of the command.
func (g *change) Done(r *command.Request) {
	defer g.l.s.enter(mustNotBlock).leave()
	if r.Fate == command.Answered && !r.MayArrive {
		g.l.c.exec.Discard(g.l.slot, g.want.Latch)
	}
	g.end(g.verdict())
}

// verdict is how it ended, by what became of its last send.
func (g *change) verdict() error {
	r := &g.req
	switch {
	case r.Fate == command.Answered && r.Unreplicated:
		return fmt.Errorf("done, but %w", ErrUnreplicated)
	case r.Fate == command.Answered:
		return nil
	case r.Reached() != 0 && (r.Fate != command.Refused || r.First != r.Wire.Sent):
		return fmt.Errorf("%w: it was sent and never answered: %w", ErrUncertain, r.Wire.Err)
	case r.Fate == command.Closed:
		return ErrClosed
	}
	return r.Wire.Err
}

// end is called with the shard locked.
func (g *change) end(err error) {
	if !g.ended {
		g.ended, g.err = true, err
		close(g.done)
		g.l.c.work.Done()
	}
}

// AnyHeld tells whether a living hold of the name in this client is such a one.
func (l *Lock) AnyHeld(such func(kind.Held) bool) bool {
	defer l.s.enter(mustNotBlock).leave()
	n := l.s.find(l)
	if n == nil {
		return false
	}
	for st := n.states; st != nil; st = st.next {
		if st.find(func(h *Hold) bool { return such(h.l.held(st)) }) != nil {
			return true
		}
	}
	return false
}

// Of is the same object's lock of another kind.
func (l *Lock) Of(k kind.Kind) Lock {
	of := *l
	of.kind = k
	return of
}
