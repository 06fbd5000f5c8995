package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/lease"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/watchdog"
)

// Extend gives a hold with a fixed lease a new one of d from now, as the public
// method says.
func Extend(ctx context.Context, h *Hold, d time.Duration) error {
	e, err := startExtend(h, d)
	if err != nil {
		return err
	}
	select {
	case err = <-e.done:
	case <-ctx.Done():
		err = e.giveUp(ctx.Err())
	case <-time.After(h.lock.Client.Timeout):
		err = e.giveUp(nil)
	}
	if err == nil {
		h.lock.Client.Log.Extended(ctx, h.eventLock(), e.length)
	}
	return err
}

// startExtend queues the extension, or runs it.
func startExtend(h *Hold, d time.Duration) (*extension, error) {
	s := h.lock.shard
	defer s.enter(mayBlock).leave()
	err := h.check()
	switch {
	case !h.promise.Fixed:
		err = fmt.Errorf("%w: it was taken without Lease, so the watchdog extends it", ErrInvalidOption)
	case h.lock.Client.Closed():
		err = ErrClosed
	case errors.Is(err, ErrLeaseLost):
		err = lost(err)
	}
	if err != nil {
		return nil, err
	}
	e := &extension{h: h, done: make(chan error, 1), idle: true}
	e.length = d.Truncate(time.Millisecond)
	e.req.Handler, e.req.Aside, e.req.Resend, e.req.Until, e.req.Slot = e, true, kind.Always, s.Now()+h.lock.Client.Timeout, h.lock.slot
	h.lock.Client.work.Add()
	h.state.run(e)
	return e, nil
}

// extension is one Extend: the renewal of one key.
type extension struct {
	extending
	h     *Hold
	lease time.Duration // that the command passes
	done  chan error

	// Guarded by the shard's mutex.
	open      bool // a send may have run
	idle      bool // no send is under way: it waits for its command queue, or pauses
	abandoned bool // its caller left before anything of it had run
}

// Start sends the renewal. It runs with the shard locked, in the owner's
// command queue.
func (e *extension) Start() {
	h, st := e.h, e.h.state
	// The other holds keep what they were promised; this one gets d.
	others := st.needs(h)
	e.lease = others.Lease(e.length)
	held := h.lock.held(st)
	held.Count = st.tally(h.lock)
	e.req.Fill(h.lock.slot, h.lock.kind.Renew(e.req.Wire.ArgBuffer[:0], h.lock.Client.leaseArg(e.lease), 1, func(int) kind.Held { return held }), h.lock.Client.Replicas)
	e.send()
}

// send sends the renewal, perhaps again. From then on it may run. If it is not to be sent, send
// ends the extension and reports false.
func (e *extension) send() bool {
	h := e.h
	e.idle = false
	if err := h.check(); err != nil || e.abandoned {
		e.finish(err)
		return false
	}
	e.end = watchdog.Trust(h.state.name.Now(), e.length)
	h.extends = &e.extending
	h.state.alarm()
	if !h.lock.shard.enqueue(&e.req) {
		e.finish(e.unanswered())
		return false
	}
	return true
}

// giveUp ends the wait of a caller that has had no reply. ended is the error of its ctx, or nil
// when a command timeout has passed. A command that did not run is taken back.
func (e *extension) giveUp(ended error) error {
	c := e.h.lock.Client
	defer e.h.lock.shard.enter(mustNotBlock).leave()
	select {
	case err := <-e.done:
		return err
	default:
	}
	waits := !e.idle && c.exec.Cancel(&e.req)
	if e.open || !waits && !e.idle && !c.exec.Unwritten(&e.req) {
		if waits {
			e.finish(ErrUncertain)
		}
		if ended == nil {
			ended = fmt.Errorf("no answer within %v", c.Timeout)
		}
		return fmt.Errorf("%w: %w", ErrUncertain, ended)
	}
	if ended == nil {
		unsent := ofKind(fmt.Errorf("not sent within %v", c.Timeout), ErrUnavailable)
		ended = cmp.Or[error](c.exec.Trouble(e.h.lock.slot), c.exec.Delay(&e.req), unsent)
	}
	e.abandoned = true
	if waits {
		e.finish(ended)
	}
	return ended
}

// Answered handles the server's reply.
func (e *extension) Answered(r *command.Request) {
	defer e.h.lock.shard.enter(mustNotBlock).leave()
	e.h.extends = nil
	e.answered(r)
}

// Rest goes on with an extension that was not answered. It is sent again, behind the kill
// barrier or after a pause: setting a lease twice does no harm.
func (e *extension) Rest(r *command.Request) {
	st, s := e.h.state, e.h.lock.shard
	defer s.enter(mayBlock).leave()
	for r.Fate != command.Answered {
		e.h.extends = nil
		if r.MayHaveRun() {
			e.mayHaveRun(r)
		}
		st.alarm()
		switch {
		case r.Fate == command.Lost:
			if s.barrier(r); r.MayArrive {
				st.mayArrive(e.lease)
			}
		case r.Again > 0:
			e.idle = true
			st.pause(r.Again)
		default:
			e.finish(e.unanswered())
			return
		}
		if !e.send() {
			return
		}
		if s.await(r); r.Fate == command.TakenBack {
			return // giveUp has ended it
		}
	}
	e.h.extends = nil
	e.answered(r)
}

// unanswered is the error of an extension that ends without a reply.
func (e *extension) unanswered() error {
	if e.h.lock.Client.Closed() {
		return ErrClosed
	}
	return unanswered(&e.req)
}

// mayHaveRun lowers trust to what holds whether or not the command ran.
func (e *extension) mayHaveRun(r *command.Request) {
	h := e.h
	e.open = true
	if h.ended != nil {
		h.state.mayLast(e.lease)
		return
	}
	h.promise.End = min(h.promise.End, watchdog.Trust(r.Wire.Sent, e.length))
	h.state.mayHaveSet(r.Wire.Sent, e.lease)
}

func (e *extension) answered(r *command.Request) {
	h, st := e.h, e.h.state
	mine, err := luasrc.DecodeRenew(r.Wire.Reply, 1)
	switch {
	case err != nil:
		e.mayHaveRun(r)
		e.finish(err)
	case !mine[0]:
		st.lose(h.lock, errVanished)
		e.finish(lostBy(errVanished))
	case h.ended != nil:
		// The hold was lost or released while the answer was on its way.
		st.mayHaveSet(r.Wire.Sent, e.lease)
		e.finish(h.ended)
	case r.Unreplicated:
		// The next master may have only the former lease.
		e.mayHaveRun(r)
		e.finish(fmt.Errorf("extended, but %w; the client relies only on the shorter lease", unreplicated(r)))
	default:
		h.promise = lease.Fixed(r.Wire.Sent, e.length)
		st.live(r.Wire.Sent, st.trust(r.Wire.Sent, e.lease))
		err := h.check()
		if least := st.least(r.Wire.Sent, e.lease); err == nil && least < e.length {
			err = fmt.Errorf("%w: an earlier command of owner %s was lost, its connection could not be killed and it may still arrive; it would cut the lease to %v", ErrUncertain, st.Owner.String(), least)
		}
		e.finish(err)
	}
}

// finish ends the extension. err is for its caller, and may be the loss of the hold.
func (e *extension) finish(err error) {
	if errors.Is(err, ErrLeaseLost) {
		err = lost(err)
	}
	select {
	case e.done <- err:
	default:
	}
	e.h.extends = nil
	e.h.lock.Client.work.Done()
	e.h.state.done()
}
