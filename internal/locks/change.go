package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
)

// sendChange makes one change that is no owner's, such as to the number of permits or to the count of a latch,
// and returns the reply. call makes the command from a Want without an owner; the command keeps its result in
// Want.Latch, the receipt. It blocks for as long as an unlock is sent (unlockFor)
// and, once ctx is over, for a command timeout and an eighth more.
//
// A change that is due, such as a release, is sent even if ctx is over, and goes on in the background when its caller has
// left. Any other is taken back when its caller leaves, if nothing of it was sent, and given up when no server has run it
// for a command timeout.
//
// If keep is not nil, it gets an answered change and its receipt, and reports whether it needs that. Otherwise the
// receipt is deleted.
func sendChange(ctx context.Context, l *Lock, due bool, call func(*kind.Want) kind.Call, keep func(*command.Request, any) bool) (any, error) {
	if err := ctx.Err(); err != nil && !due {
		return nil, err
	}
	c := l.Client
	g := &change{l: l, due: due, keep: keep, done: make(chan struct{})}
	g.want = kind.Want{Since: &elapsed{&g.req, c}, Names: &l.names, Latch: codec.FreshLatch(l.key), LatchTTL: c.args.ReceiptTTL, Publish: l.Client.top.Publish(l.slot), Known: c.failsOver}
	g.start(call(&g.want))
	limit := time.NewTimer(c.unlockFor)
	defer limit.Stop()
	select {
	case <-g.done:
		return g.reply(), g.err
	case <-limit.C:
		return g.leave(fmt.Errorf("no answer within %v", c.unlockFor))
	case <-ctx.Done():
	}
	if !due && g.takeBack() {
		return nil, ctx.Err()
	}
	select {
	case <-g.done:
		return g.reply(), g.err
	case <-time.After(c.Timeout + c.Timeout/8): // by then a lost command is known to be lost
		return g.leave(fmt.Errorf("no answer within %v after the context ended: %w", c.Timeout, ctx.Err()))
	}
}

// change is one change on its way.
type change struct {
	req  command.Request
	l    *Lock
	want kind.Want
	due  bool
	keep func(*command.Request, any) bool
	done chan struct{} // closed when err is set, and the reply is there
	err  error

	mu    sync.Mutex // guards what follows
	left  bool       // its caller has left, and it goes on
	ended bool
}

// elapsed is how many ms ago a request was first sent, if it may have run.
type elapsed struct {
	req *command.Request
	c   *Client
}

// RedisArg is called for each send.
func (e *elapsed) RedisArg() any {
	if first := e.req.Reached(); first > 0 {
		return max((e.c.Clock.Now() - first).Milliseconds(), 1)
	}
	return int64(0)
}

// reply is the reply of a change that has ended, without how its object is known.
func (g *change) reply() any {
	if by, ok := g.req.Wire.Reply.(int64); ok && g.keep != nil && by > 1 {
		return int64(1)
	}
	return g.req.Wire.Reply
}

// start sends the change for the first time.
func (g *change) start(call kind.Call) {
	c := g.l.Client
	now := c.Clock.Now()
	limit := c.changeFor
	if !g.due { // it is given up if no server has run it for a command timeout
		limit, g.req.Unrun = c.unlockFor, now+c.Timeout
	}
	g.req.Fill(g.l.slot, call, c.Replicas)
	g.req.Handler, g.req.Resend, g.req.Aside, g.req.Until = command.Ended(g.end), call.Resend, true, now+limit
	c.work.Add()
	if !c.exec.Enqueue(&g.req) {
		g.end(&g.req)
		return
	}
	c.exec.Flush()
}

// takeBack takes the change back unless it was sent or has ended, and reports whether it did.
func (g *change) takeBack() bool {
	g.mu.Lock()
	back := !g.ended && g.req.Reached() == 0 && g.l.Client.exec.Cancel(&g.req)
	g.ended = g.ended || back
	g.mu.Unlock()
	if back {
		g.finish()
	}
	return back
}

// leave is what Do returns when its caller stops waiting, because of why.
func (g *change) leave(why error) (any, error) {
	if !g.due && g.takeBack() {
		return nil, g.unsent()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = true
	switch {
	case g.ended:
		return g.reply(), g.err
	case g.due && g.req.Reached() == 0 && g.l.Client.exec.Unwritten(&g.req):
		return nil, ofKind(fmt.Errorf("not done so far, it goes on in the background for a while: %w", g.unsent()), ErrUnavailable)
	}
	return nil, fmt.Errorf("%w: %w", ErrUncertain, why)
}

// unsent is why nothing of the change has run.
func (g *change) unsent() error {
	return cmp.Or(g.l.Client.exec.Delay(&g.req), g.l.Client.exec.Trouble(g.l.slot), command.Unsent(errors.New("it waited to be written")))
}

// verdict is the error of a change, by the outcome of its last send.
func verdict(r *command.Request) error {
	switch {
	case r.Fate == command.Answered && kind.Gone(r.Wire.Reply):
		return fmt.Errorf("%w: it was sent and never answered, and its object is gone, or was made anew", ErrUncertain)
	case r.Fate == command.Answered && (r.Wire.Reply == nil || r.Wire.Reply == int64(0)):
		return nil // it changed nothing that a replica could lack
	case r.Fate == command.Answered && r.Unreplicated:
		return fmt.Errorf("done, but %w", unreplicated(r))
	case r.Fate == command.Answered && r.Unannounced != nil:
		return unannounced("done", r.Unannounced)
	case r.Fate == command.Answered:
		return nil
	}
	return unanswered(r)
}

// end ends the change by the outcome of its last send, unless it has ended. Nothing of it is sent afterwards.
func (g *change) end(r *command.Request) {
	err := verdict(r)
	g.mu.Lock()
	if g.ended {
		g.mu.Unlock()
		return
	}
	g.ended, g.err = true, err
	left := g.left
	g.mu.Unlock()
	if err != nil && left && !g.l.Client.Closed() {
		g.l.Client.Log.NotDone(nil, eventlog.Lock{Name: g.l.name}, err)
	}
	g.finish()
}

// finish is called once, when the change has ended.
func (g *change) finish() {
	r := &g.req
	kept := g.keep != nil && r.Fate == command.Answered && g.keep(r, g.want.Latch)
	if !kept && r.First != 0 && !r.MayArrive {
		g.l.Client.exec.Discard(g.l.slot, g.want.Latch)
	}
	if g.req.First != 0 {
		g.l.mayHaveWritten()
	}
	g.l.Client.work.Done() // before its caller returns
	close(g.done)
}
