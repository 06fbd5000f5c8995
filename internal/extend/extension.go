// Package extend gives holds with a fixed lease a new one. An extension is the renewal of one
// key: it has its turn in its owner's command queue, and the lease that it sets is never shorter
// than what the owner's other holds need. Until it is answered, its hold is trusted for the
// shorter of the old lease and the new one.
package extend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lease"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/watchdog"
)

// Hold gives a hold with a fixed lease a new one of d from now, as the public
// method says.
func Hold(ctx context.Context, h *state.Hold, d time.Duration) error {
	e, err := startExtend(h, d)
	if err != nil {
		return err
	}
	select {
	case err = <-e.done:
	case <-ctx.Done():
		err = e.giveUp(ctx.Err())
	case <-time.After(h.Lock.Client.Timeout):
		err = e.giveUp(nil)
	}
	if err == nil {
		h.Lock.Client.Log.Extended(ctx, h.Told(), e.For)
	}
	return err
}

// startExtend queues the extension, or runs it.
func startExtend(h *state.Hold, d time.Duration) (*extension, error) {
	s := h.Lock.Shard
	defer s.Enter(section.MayBlock).Leave()
	err := h.Check()
	switch {
	case !h.Promise.Fixed:
		err = fmt.Errorf("%w: only a hold taken with Lease is extended by hand; the watchdog extends this one", lockerr.ErrInvalidOption)
	case h.Lock.Client.Closed():
		err = lockerr.ErrClosed
	case errors.Is(err, lockerr.ErrLeaseLost):
		err = lockerr.Lost(err)
	}
	if err != nil {
		return nil, err
	}
	e := &extension{h: h, done: make(chan error, 1), idle: true}
	e.For = d.Truncate(time.Millisecond)
	e.Req.Handler, e.Req.Aside, e.Req.Resend, e.Req.Until, e.Req.Slot = e, true, kind.Always, s.Now()+h.Lock.Client.Timeout, h.Lock.Slot
	h.Lock.Client.Work.Add()
	h.State.Run(e)
	return e, nil
}

// extension is one Extend: the renewal of one key.
type extension struct {
	state.Extending
	h     *state.Hold
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
	h, st := e.h, e.h.State
	// The other holds keep what they were promised; this one gets d.
	others := st.Needs(h)
	e.lease = others.Lease(e.For)
	held := h.Lock.Held(st)
	held.Count = st.Tally(&h.Lock.Lock)
	h.Lock.Client.Fill(&e.Req, h.Lock.Slot, h.Lock.Kind.Renew(e.Req.Wire.ArgBuffer[:0], h.Lock.Client.LeaseArg(e.lease), 1, func(int) kind.Held { return held }))
	e.send()
}

// send sends the renewal, perhaps again. From then on it may run. If it is not to be sent, send
// ends the extension and reports false.
func (e *extension) send() bool {
	h := e.h
	e.idle = false
	if err := h.Check(); err != nil || e.abandoned {
		e.finish(err)
		return false
	}
	e.End = watchdog.Trust(h.State.Name.Now(), e.For)
	h.Extends = &e.Extending
	h.State.Alarm()
	if !h.Lock.Shard.Enqueue(&e.Req) {
		e.finish(e.unanswered())
		return false
	}
	return true
}

// giveUp ends the wait of a caller that has had no reply. ended is the error of its ctx, or nil
// when a command timeout has passed. A command that did not run is taken back.
func (e *extension) giveUp(ended error) error {
	c := e.h.Lock.Client
	defer e.h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	select {
	case err := <-e.done:
		return err
	default:
	}
	waits := !e.idle && c.Exec.Cancel(&e.Req)
	if e.open || !waits && !e.idle && !c.Exec.Waiting(&e.Req) {
		if waits {
			e.finish(lockerr.ErrUncertain)
		}
		if ended == nil {
			ended = fmt.Errorf("no answer within %v", c.Timeout)
		}
		return fmt.Errorf("%w: %w", lockerr.ErrUncertain, ended)
	}
	if ended == nil {
		unsent := lockerr.OfKind(fmt.Errorf("not sent within %v", c.Timeout), lockerr.ErrUnavailable)
		ended = cmp.Or[error](c.Exec.Trouble(e.h.Lock.Slot), c.Exec.Delay(&e.Req), unsent)
	}
	e.abandoned = true
	if waits {
		e.finish(ended)
	}
	return ended
}

// Answered handles the server's reply.
func (e *extension) Answered(r *command.Request) {
	defer e.h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	e.h.Extends = nil
	e.answered(r)
}

// Rest goes on with an extension that was not answered. It is sent again, behind the kill
// barrier or after a pause: setting a lease twice does no harm.
func (e *extension) Rest(r *command.Request) {
	st, s := e.h.State, e.h.Lock.Shard
	defer s.Enter(section.MayBlock).Leave()
	for r.Fate != command.Answered {
		e.h.Extends = nil
		if r.MayHaveRun() {
			e.mayHaveRun(r)
		}
		st.Alarm()
		switch {
		case r.Fate == command.Lost:
			if s.Barrier(r); r.MayArrive {
				st.MayArrive(e.lease)
			}
		case r.Again > 0:
			e.idle = true
			st.Pause(r.Again)
		default:
			e.finish(e.unanswered())
			return
		}
		if !e.send() {
			return
		}
		if s.Await(r); r.Fate == command.TakenBack {
			return // giveUp has ended it
		}
	}
	e.h.Extends = nil
	e.answered(r)
}

// unanswered is the error of an extension that ends without a reply.
func (e *extension) unanswered() error {
	if e.h.Lock.Client.Closed() {
		return lockerr.ErrClosed
	}
	return lockerr.Unanswered(&e.Req)
}

// mayHaveRun lowers trust to what holds whether or not the command ran.
func (e *extension) mayHaveRun(r *command.Request) {
	h := e.h
	e.open = true
	if h.Ended != nil {
		h.State.MayLast(e.lease)
		return
	}
	h.Promise.End = min(h.Promise.End, watchdog.Trust(r.Wire.Sent, e.For))
	h.State.MayHaveSet(r.Wire.Sent, e.lease)
}

func (e *extension) answered(r *command.Request) {
	h, st := e.h, e.h.State
	mine, err := codec.DecodeRenew(r.Wire.Reply, 1)
	switch {
	case err != nil:
		e.mayHaveRun(r)
		e.finish(err)
	case !mine[0]:
		st.Lose(&h.Lock.Lock, state.ErrVanished)
		e.finish(state.LostBy(state.ErrVanished))
	case h.Ended != nil:
		// Lost or released while the answer was on its way.
		st.MayHaveSet(r.Wire.Sent, e.lease)
		e.finish(h.Ended)
	case r.Unreplicated:
		// The next master may have only the former lease.
		e.mayHaveRun(r)
		e.finish(fmt.Errorf("extended, but %w; the client relies only on the shorter lease", lockerr.Unreplicated(r)))
	default:
		h.Promise = lease.Fixed(r.Wire.Sent, e.For)
		st.Live(r.Wire.Sent, st.Trust(r.Wire.Sent, e.lease))
		err := h.Check()
		if least := st.Least(r.Wire.Sent, e.lease); err == nil && least < e.For {
			err = fmt.Errorf("%w: an earlier command of owner %s was lost, its connection could not be killed and it may still arrive; it would cut the lease to %v", lockerr.ErrUncertain, st.Owner.String(), least)
		}
		e.finish(err)
	}
}

// finish ends the extension. err is for its caller, and may be the loss of the hold.
func (e *extension) finish(err error) {
	if errors.Is(err, lockerr.ErrLeaseLost) {
		err = lockerr.Lost(err)
	}
	select {
	case e.done <- err:
	default:
	}
	e.h.Extends = nil
	e.h.Lock.Client.Work.Done()
	e.h.State.Done()
}
