package lockstate

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
)

// Ask reads something of the lock, or of the owner, for at most a command
// timeout.
func (l *Lock) Ask(ctx context.Context, q kind.Question, o Owner) (kind.Answer, error) {
	call := l.kind.Ask(nil, q, &kind.Want{Names: &l.names, Owner: ownerArg(o)})
	reply, err := l.c.query(ctx, l.slot, call)
	if err != nil {
		return kind.Answer{}, err
	}
	return l.kind.Asked(q, reply)
}

// question is a command of whose sends any number may run: mostly one that only
// reads. It is asked again until it is answered, its limit has come or the client is
// closed.
type question struct {
	c    *State
	req  command.Request
	then func(reply any, err error) // called once, without any lock held
}

// ask asks the server of slot, and hands over its reply. It does no I/O itself: a flush
// must follow.
func (c *State) ask(slot uint16, call kind.Call, limit time.Duration, then func(reply any, err error)) {
	q := &question{c: c, then: then}
	q.req.Handler, q.req.Resend, q.req.Until, q.req.Slot = q, call.Resend, limit, slot
	q.req.Wait, q.req.Aside = call.Writes && c.o.Replicas, call.Writes
	q.req.Wire.Command, q.req.Wire.Script, q.req.Wire.Args = call.Name, call.Script, call.Args
	if !c.exec.Enqueue(&q.req) {
		c.timers.After(0, func() { then(nil, ErrClosed) })
	}
}

// askLater is State.ask of the lock's slot, with its shard locked: the question is
// written when the section has been left.
func (l *Lock) askLater(call kind.Call, limit time.Duration, then func(reply any, err error)) {
	l.s.sec.queued = true
	l.c.ask(l.slot, call, limit, then)
}

// askAll sends calls, one after the other, and calls then with the shard locked. Nobody
// waits for what they are answered.
func (l *Lock) askAll(calls []kind.Call, then func()) {
	if len(calls) == 0 {
		then()
		return
	}
	l.askLater(calls[0], clock.Never, func(any, error) {
		defer l.s.enter(mustNotBlock).leave()
		l.askAll(calls[1:], then)
	})
}

// Unanswered does nothing: it is asked again.
func (q *question) Unanswered(*command.Request) {}

// Paused has it asked again.
func (q *question) Paused(r *command.Request, d time.Duration) {
	q.c.timers.After(d, func() {
		if !q.c.exec.Enqueue(r) {
			q.Done(r)
			return
		}
		q.c.exec.Flush()
	})
}

// Done hands over the reply.
func (q *question) Done(r *command.Request) {
	if r.Fate == command.Closed {
		q.then(nil, ErrClosed)
		return
	}
	q.then(r.Wire.Reply, r.Wire.Err)
}

// Query is query by a plain command.
func (c *State) Query(ctx context.Context, slot uint16, name string, args ...any) (any, error) {
	return c.query(ctx, slot, kind.Read(name, args))
}

// query asks the server of slot and waits for its reply, for at most a command
// timeout.
func (c *State) query(ctx context.Context, slot uint16, call kind.Call) (any, error) {
	type answer struct {
		reply any
		err   error
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	done := make(chan answer, 1)
	c.ask(slot, call, c.now()+c.o.Timeout, func(reply any, err error) { done <- answer{reply, err} })
	c.exec.Flush()
	// One that is asked again just before its limit may wait for a connection
	// for two timeouts more; its caller does not. Else the answer comes first.
	timer := time.NewTimer(c.o.Timeout + c.o.Timeout/8)
	defer timer.Stop()
	select {
	case <-timer.C:
		if why := c.exec.Trouble(slot); why != nil {
			return nil, why
		}
		return nil, command.NoReply("no reply within %v", c.o.Timeout)
	case a := <-done:
		return a.reply, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Prove returns nil when a server has answered. It blocks for no longer than ctx
// and a command timeout.
func (c *State) Prove(ctx context.Context) error {
	if by, ok := c.top.(topology.Prover); ok {
		return by.Prove(ctx)
	}
	reply, err := c.Query(ctx, 0, "PING")
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("no Redis: PING was answered with a Go %T, not PONG", reply)
	}
	return err
}
