package faults

import (
	"context"
	"errors"
	"strings"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/rlock"
)

// What a call ended with, in the words of the table.
const (
	ok           = "nil"
	uncertain    = "ErrUncertain"
	unreachable  = "cannot be reached"
	locked       = "ErrLocked"
	leaseLost    = "ErrLeaseLost"
	notHeld      = "ErrNotHeld"
	lostNotHeld  = "ErrLeaseLost and ErrNotHeld"
	ctxEnded     = "ctx's error"
	unreplicated = "ErrUnreplicated"
	reentered    = "ErrReentered"
	readOnly     = "reported as READONLY"
	undocumented = ""
)

// kindOf names an error; undocumented is none that the API's comments know.
func kindOf(err error) string {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ctxEnded
	case errors.Is(err, rlock.ErrLeaseLost) && errors.Is(err, rlock.ErrNotHeld):
		return lostNotHeld
	case errors.Is(err, rlock.ErrUncertain):
		return uncertain
	case errors.Is(err, rlock.ErrLocked):
		return locked
	case errors.Is(err, rlock.ErrLeaseLost):
		return leaseLost
	case errors.Is(err, rlock.ErrNotHeld):
		return notHeld
	case errors.Is(err, rlock.ErrReentered):
		return reentered
	case errors.Is(err, rlock.ErrReleased):
		return "ErrReleased"
	case errors.Is(err, rlock.ErrClosed):
		return "ErrClosed"
	case errors.Is(err, rlock.ErrUnreplicated):
		return unreplicated
	}
	if !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrRefused) {
		return undocumented
	}
	if re, is := errors.AsType[redis.Error](err); is {
		code, _, _ := strings.Cut(string(re), " ")
		return "reported as " + code
	}
	if _, is := errors.AsType[*pipeline.NotSentError](err); is {
		return unreachable
	}
	return undocumented
}
