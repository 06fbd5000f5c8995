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

// call is a method with the errors that its contract names.
type call struct {
	name string
	verb string // how its errors begin, after "rlock: "
	ctx  context.Context
	// errs are the sentinels that it may return here, the most specific first.
	errs []sort
	// unsent: it may report why nothing was sent. unanswered: it may report why no reply came.
	unsent, unanswered bool
	half               bool // it may report that it ran, but that replicas may not know
}

type sort struct {
	name string
	is   []error
	says string // a part of its text that no other with the same errors has
}

// passing are the temporary refusals with which a call ends if they last: nothing ran.
var passing = []string{"LOADING", "BUSY", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN", "UNBLOCKED"}

var (
	locked    = sort{name: history.Locked, is: []error{rlock.ErrLocked}}
	late      = sort{"locked, a grant may come", []error{rlock.ErrLocked}, "whatever it took is given back"} // a sighting may show that grant
	noPermits = sort{name: history.Locked, is: []error{rlock.ErrNoPermits}}
	reentered = sort{name: history.Reentered, is: []error{rlock.ErrReentered}}
	uncertain = sort{name: history.Uncertain, is: []error{rlock.ErrUncertain}}
	leaseLost = sort{name: history.LostLease, is: []error{rlock.ErrLeaseLost}}
	lostHold  = sort{name: history.LostLease, is: []error{rlock.ErrLeaseLost, rlock.ErrNotHeld}}
	notHeld   = sort{history.NotHeld, []error{rlock.ErrLeaseLost, rlock.ErrNotHeld}, ": not held by this owner"} // only from a release that finds the loss itself: the hold was relied on until then
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
	// An error that names a context which did not end would mislead a caller that tests for it.
	// Texts are compared, because package net's timeouts match context.DeadlineExceeded too.
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
		return "refused", false // nothing is refused here
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
