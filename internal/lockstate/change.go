package lockstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
)

// Change sends what changes the object and is no owner's, such as how many permits
// there are, and returns the reply. call makes it of a Want without an owner, and keeps
// its result in Want.Latch, the receipt: it is sent again when its reply is lost, and
// counts once. The caller waits for as long as for an unlock and, when ctx is over, for
// one command timeout more.
//
// A change that is due, such as a release, is sent even if ctx is over, and goes on in the
// background when its caller has left. Any other is taken back when its caller leaves, if
// nothing of it was sent, and given up when no server has run it for a command timeout.
func (l *Lock) Change(ctx context.Context, due bool, call func(*kind.Want) kind.Call) (any, error) {
	if err := ctx.Err(); err != nil && !due {
		return nil, err
	}
	c := l.c
	g := &change{l: l, due: due, done: make(chan struct{})}
	g.want = kind.Want{Names: &l.Names, Latch: codec.FreshLatch(l.Key()), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	g.start(call(&g.want))
	limit := time.NewTimer(c.UnlockFor)
	defer limit.Stop()
	select {
	case <-g.done:
		return g.req.Wire.Reply, g.err
	case <-limit.C:
		return g.leave(fmt.Errorf("no answer within %v", c.UnlockFor))
	case <-ctx.Done():
	}
	if !due && g.takeBack() {
		return nil, ctx.Err()
	}
	select {
	case <-g.done:
		return g.req.Wire.Reply, g.err
	case <-time.After(c.Timeout + c.Timeout/8): // what was lost is known to be by then
		return g.leave(fmt.Errorf("no answer within %v after the context ended: %w", c.Timeout, ctx.Err()))
	}
}

// Read is Change for a call that any number of times may run, without a receipt. It
// waits for at most a command timeout.
func (l *Lock) Read(ctx context.Context, call func(*kind.Want) kind.Call) (any, error) {
	return l.c.Query(ctx, l.Slot, call(&kind.Want{Names: &l.Names, Publish: l.Publish()}))
}

// change is one Change on its way.
type change struct {
	req   command.Request
	l     *Lock
	want  kind.Want
	due   bool
	again bool          // it is a repetition of what may have been undone, see failover.go
	done  chan struct{} // closed when err is set, and the reply is there
	err   error
	then  func() // called when it has ended, with the shard locked; nil: nobody wants to know

	// Guarded by the shard's mutex.
	left  bool // its caller has left, and it goes on
	ended bool
}

// start sends it for the first time.
func (g *change) start(call kind.Call) {
	l := g.l
	defer l.s.enter(mayBlock).leave()
	now, limit := l.s.sec.now(), l.c.ChangeFor
	if !g.due { // what no server has run for a command timeout is given up
		limit, g.req.Unrun = l.c.UnlockFor, now+l.c.Timeout
	}
	g.begin(call, now+limit)
}

// begin is start with the shard locked. It is sent until then.
func (g *change) begin(call kind.Call, until time.Duration) {
	l := g.l
	l.c.Fill(&g.req, l.Slot, call)
	g.req.Handler, g.req.Resend, g.req.Aside, g.req.Until = g, call.Resend, true, until
	l.c.Work.Add()
	if !l.s.sec.enqueue(&g.req) {
		g.end(g.verdict())
	}
}

// takeBack reports whether nothing of it runs: it was not sent so far, and is not sent
// any more.
func (g *change) takeBack() bool {
	defer g.l.s.enter(mustNotBlock).leave()
	if g.ended || g.req.Reached() != 0 || !g.l.c.Exec.Cancel(&g.req) {
		return false
	}
	g.end(nil)
	return true
}

// leave is the error of a caller that stops waiting for this reason.
func (g *change) leave(why error) (any, error) {
	if !g.due && g.takeBack() {
		return nil, g.unsent()
	}
	defer g.l.s.enter(mustNotBlock).leave()
	g.left = true
	switch {
	case g.ended:
		return g.req.Wire.Reply, g.err
	case g.due && g.req.Reached() == 0 && g.l.c.Exec.Waiting(&g.req):
		return nil, fmt.Errorf("not done so far, it goes on in the background for a while: %w", g.unsent())
	}
	return nil, fmt.Errorf("%w: %w", lockerr.ErrUncertain, why)
}

// unsent is why nothing of it has run.
func (g *change) unsent() error {
	return cmp.Or(g.l.c.Exec.Delay(&g.req), g.l.c.Exec.Trouble(g.l.Slot), command.Unsent(errors.New("it waited to be written")))
}

// Answered takes the server's answer.
func (g *change) Answered(*command.Request) {
	defer g.l.s.enter(mustNotBlock).leave()
	g.end(g.verdict())
}

// Rest sends it again, behind the kill barrier or after a pause.
func (g *change) Rest(r *command.Request) {
	g.l.c.Exec.Finish(r)
	g.Answered(r)
}

// verdict is how it ended, by what became of its last send.
func (g *change) verdict() error {
	r := &g.req
	switch {
	case r.Fate == command.Answered && r.Unreplicated:
		return fmt.Errorf("done, but %w", lockerr.Unreplicated(r))
	case r.Fate == command.Answered && r.Untold != nil:
		return fmt.Errorf("done, but nobody could be told: %w", r.Untold)
	case r.Fate == command.Answered:
		return nil
	}
	return lockerr.Unanswered(r)
}

// end is called with the shard locked. Nothing of it is sent any more.
func (g *change) end(err error) {
	if g.ended {
		return
	}
	g.ended, g.err = true, err
	if err != nil && (g.left || g.again) && !g.l.c.Closed() {
		g.l.c.Log.NotDone(&g.l.s.sec, eventlog.Lock{Name: g.l.Name()}, err)
	}
	switch {
	case g.again: // its receipt stays with the first
	case g.due && g.l.c.FailsOver && g.req.Fate == command.Answered:
		g.remember()
	case g.req.First != 0 && !g.req.MayArrive:
		g.l.c.Exec.Discard(g.l.Slot, g.want.Latch)
	}
	close(g.done)
	if g.then != nil {
		g.then()
	}
	g.l.c.Work.Done()
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

// Keeps tells whether a release can leave the lock taken.
func (l *Lock) Keeps() bool { return l.Traits.Keeps }

// Of is the same object's lock of another kind.
func (l *Lock) Of(k kind.Kind) Lock {
	of := *l
	of.Kind = k
	return of
}
