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
	"github.com/rlock-go/redisson/internal/lease"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/watchdog"
)

// Extend gives a hold with a fixed lease a new one of d from now, as the public
// method says.
func (h *Hold) Extend(ctx context.Context, d time.Duration) error {
	e, err := h.startExtend(d)
	if err != nil {
		return err
	}
	select {
	case err = <-e.done:
	case <-ctx.Done():
		err = e.giveUp(ctx.Err())
	case <-time.After(h.l.c.Timeout):
		err = e.giveUp(nil)
	}
	if err == nil {
		h.l.c.Log.Extended(ctx, h.told(), e.d)
	}
	return err
}

// startExtend queues the extension, or runs it.
func (h *Hold) startExtend(d time.Duration) (*extension, error) {
	s := h.l.s
	defer s.Enter(section.MayBlock).Leave()
	err := h.check()
	switch {
	case !h.promise.Fixed:
		err = fmt.Errorf("%w: only a hold taken with Lease is extended by hand; the watchdog extends this one", lockerr.ErrInvalidOption)
	case h.l.c.Closed():
		err = lockerr.ErrClosed
	case errors.Is(err, lockerr.ErrLeaseLost):
		err = lockerr.Lost(err)
	}
	if err != nil {
		return nil, err
	}
	e := &extension{h: h, done: make(chan error, 1), idle: true}
	e.d = d.Truncate(time.Millisecond)
	e.req.Handler, e.req.Aside, e.req.Resend, e.req.Until, e.req.Slot = e, true, kind.Always, s.Now()+h.l.c.Timeout, h.l.Slot
	h.l.c.Work.Add()
	h.st.run(e)
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

// start sends the renewal. It runs with the shard locked, in the owner's
// command queue.
func (e *extension) start() {
	h, st := e.h, e.h.st
	h.everywhere = false
	// The other holds keep what they were promised; this one gets d.
	others := st.needs(h)
	e.lease = others.Lease(e.d)
	held := h.l.held(st)
	held.Count = st.tally(&h.l.Lock)
	h.l.c.Fill(&e.req, h.l.Slot, h.l.Kind.Renew(e.req.Wire.ArgBuffer[:0], h.l.c.LeaseArg(e.lease), 1, func(int) kind.Held { return held }))
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
	e.end = watchdog.Trust(h.st.n.now(), e.d)
	h.extends = &e.extending
	h.st.alarm()
	if !h.l.s.Enqueue(&e.req) {
		e.finish(e.unanswered())
		return false
	}
	return true
}

// giveUp ends the wait of a caller that has had no reply. ended is the error of its ctx, or nil
// when a command timeout has passed. A command that did not run is taken back.
func (e *extension) giveUp(ended error) error {
	c := e.h.l.c
	defer e.h.l.s.Enter(section.MustNotBlock).Leave()
	select {
	case err := <-e.done:
		return err
	default:
	}
	waits := !e.idle && c.Exec.Cancel(&e.req)
	if e.open || !waits && !e.idle && !c.Exec.Waiting(&e.req) {
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
		ended = cmp.Or[error](c.Exec.Trouble(e.h.l.Slot), c.Exec.Delay(&e.req), unsent)
	}
	e.abandoned = true
	if waits {
		e.finish(ended)
	}
	return ended
}

// Answered handles the server's reply.
func (e *extension) Answered(r *command.Request) {
	defer e.h.l.s.Enter(section.MustNotBlock).Leave()
	e.h.extends = nil
	e.answered(r)
}

// Rest goes on with an extension that was not answered. It is sent again, behind the kill
// barrier or after a pause: setting a lease twice does no harm.
func (e *extension) Rest(r *command.Request) {
	st, s := e.h.st, e.h.l.s
	defer s.Enter(section.MayBlock).Leave()
	for r.Fate != command.Answered {
		e.h.extends = nil
		if r.MayHaveRun() {
			e.mayHaveRun(r)
		}
		st.alarm()
		switch {
		case r.Fate == command.Lost:
			if s.Barrier(r); r.MayArrive {
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
		if s.Await(r); r.Fate == command.TakenBack {
			return // giveUp has ended it
		}
	}
	e.h.extends = nil
	e.answered(r)
}

// unanswered is the error of an extension that ends without a reply.
func (e *extension) unanswered() error {
	if e.h.l.c.Closed() {
		return lockerr.ErrClosed
	}
	return lockerr.Unanswered(&e.req)
}

// mayHaveRun lowers trust to what holds whether or not the command ran.
func (e *extension) mayHaveRun(r *command.Request) {
	h := e.h
	e.open = true
	if h.ended != nil {
		h.st.mayLast(e.lease)
		return
	}
	h.promise.End = min(h.promise.End, watchdog.Trust(r.Wire.Sent, e.d))
	h.st.mayHaveSet(r.Wire.Sent, e.lease)
}

func (e *extension) answered(r *command.Request) {
	h, st := e.h, e.h.st
	mine, err := codec.DecodeRenew(r.Wire.Reply, 1)
	switch {
	case err != nil:
		e.mayHaveRun(r)
		e.finish(err)
	case !mine[0]:
		st.lose(&h.l.Lock, errVanished)
		e.finish(lostBy(errVanished))
	case h.ended != nil:
		// Lost or released while the answer was on its way.
		st.mayHaveSet(r.Wire.Sent, e.lease)
		e.finish(h.ended)
	case r.Unreplicated:
		// The next master may have only the former lease.
		e.mayHaveRun(r)
		e.finish(fmt.Errorf("extended, but %w; what is relied on is the shorter lease", lockerr.Unreplicated(r)))
	default:
		h.promise = lease.Fixed(r.Wire.Sent, e.d)
		st.live(r.Wire.Sent, st.trust(r.Wire.Sent, e.lease))
		err := h.check()
		if least := st.least(r.Wire.Sent, e.lease); err == nil && least < e.d {
			err = fmt.Errorf("%w: an earlier command of owner %s was lost, its connection could not be killed and it may still arrive; it would cut the lease to %v", lockerr.ErrUncertain, st.owner.String(), least)
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
	e.h.extends = nil
	e.h.l.c.Work.Done()
	e.h.st.done()
}
