package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/rlock"
)

// call is a method as its contract names its errors.
type call struct {
	name string
	verb string // how its errors begin, behind "rlock: "
	ctx  context.Context
	// errs are the sentinels that it may return here, the most telling first.
	errs []sort
	// unsent: it may say why it could not be sent. unanswered: it may say why no answer came.
	unsent, unanswered bool
	half               bool // it may have run, and replicas not know
}

type sort struct {
	name string
	is   []error
	says string // what its text has, which tells it from another with the same errors
}

// passing are the refusals that a call ends with if they last: nothing ran.
var passing = []string{"LOADING", "BUSY", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN", "UNBLOCKED"}

var (
	locked    = sort{name: history.Locked, is: []error{rlock.ErrLocked}}
	late      = sort{"locked, a grant may come", []error{rlock.ErrLocked}, "whatever it took is given back"} // which a look may meet
	noPermits = sort{name: history.Locked, is: []error{rlock.ErrNoPermits}}
	reentered = sort{name: history.Reentered, is: []error{rlock.ErrReentered}}
	uncertain = sort{name: history.Uncertain, is: []error{rlock.ErrUncertain}}
	leaseLost = sort{name: history.LostLease, is: []error{rlock.ErrLeaseLost}}
	lostHold  = sort{name: history.LostLease, is: []error{rlock.ErrLeaseLost, rlock.ErrNotHeld}}
	notHeld   = sort{history.NotHeld, []error{rlock.ErrLeaseLost, rlock.ErrNotHeld}, ": not held by this owner"} // which a release alone says, that finds the loss; it was relied on until then
)

func acquireCall(ctx context.Context, name string, errs ...sort) call {
	return call{name, "acquire", ctx, append([]sort{uncertain}, errs...), true, true, true}
}

func lockCall(ctx context.Context) call { return acquireCall(ctx, "Lock", leaseLost) }
func tryLockCall(ctx context.Context) call {
	return acquireCall(ctx, "TryLock", late, locked, leaseLost)
}
func tryLockForCall(ctx context.Context) call {
	return acquireCall(ctx, "TryLockFor", late, locked, leaseLost)
}

func unlockCall() call {
	return call{"Unlock", "release", nil, []sort{notHeld, lostHold, uncertain}, true, false, true}
}

func extendCall(ctx context.Context) call {
	return call{"Extend", "extend", ctx, []sort{lostHold, uncertain}, true, false, true}
}

// judge names the outcome err. why is not empty if the contract has no such outcome.
func (c call) judge(err error) (name, why string) {
	if err == nil {
		return history.OK, ""
	}
	name, known := c.named(err)
	switch {
	case !known:
		return name, fmt.Sprintf("%T: %v", err, err)
	case !strings.HasPrefix(err.Error(), "rlock: "+c.verb+" "):
		return name, "its text does not name call and lock: " + err.Error()
	}
	return name, ""
}

func (c call) named(err error) (name string, known bool) {
	if c.ctx != nil && c.ctx.Err() != nil {
		for _, e := range []error{context.Canceled, context.DeadlineExceeded} {
			if errors.Is(err, e) && errors.Is(c.ctx.Err(), e) {
				return e.Error(), true
			}
		}
	}
	// An error that speaks of a context which did not end would mislead whoever looks for that.
	// By text: package net's own timeouts say that they are context.DeadlineExceeded.
	if strings.Contains(err.Error(), context.Canceled.Error()) || strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		return "a context's error that is not its own", false
	}
	for _, k := range c.errs {
		all := strings.Contains(err.Error(), k.says)
		for _, e := range k.is {
			all = all && errors.Is(err, e)
		}
		if all {
			return k.name, true
		}
	}
	for _, e := range []error{rlock.ErrReleased, rlock.ErrClosed, rlock.ErrInvalidOption, rlock.ErrInvalidName,
		rlock.ErrLocked, rlock.ErrNotHeld, rlock.ErrLeaseLost, rlock.ErrUncertain, rlock.ErrNotLocked} {
		if errors.Is(err, e) {
			return e.Error(), false
		}
	}
	switch {
	case errors.Is(err, rlock.ErrUnreplicated):
		return "replicas may not know", c.half
	case errors.Is(err, rlock.ErrRefused):
		return "refused", false // nothing here is
	case !errors.Is(err, rlock.ErrUnavailable):
		return "a kind without a name", false
	}
	if e, ok := errors.AsType[redis.Error](err); ok {
		code, _, _ := strings.Cut(string(e), " ")
		return "unavailable: " + code, slices.Contains(passing, code)
	}
	if _, lost := errors.AsType[*pipeline.LostError](err); lost && !isUnsent(err) {
		return "unanswered", c.unanswered
	}
	return "unreachable", c.unsent
}

func isUnsent(err error) bool {
	_, unsent := errors.AsType[*pipeline.NotSentError](err)
	return unsent
}
