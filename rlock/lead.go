package rlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Lead's pauses between two attempts grow from the first to the last. Each is shortened at
// random to as little as half.
const (
	firstLeadPause = 100 * time.Millisecond
	lastLeadPause  = time.Second
)

// Lead makes this process a candidate until ctx ends, and runs fn each time that it
// leads, which is while it holds the lock. So one process of all that call Lead leads.
// If it ends or dies, another one leads within the lease plus two seconds.
//
// fn's context derives from ctx and also ends with the lock, as in [Lock.Do]. fn must
// return then, and Lead waits for it. If the lock was lost, Lead tries again, whatever fn
// returned. If fn returns nil while it leads, Lead releases the lock, so that another
// process can lead, and tries again. It also tries again after an error that may pass:
// ErrUncertain, ErrUnavailable, ErrUnreplicated, or ErrLeaseLost. It pauses before each
// further attempt, for up to a second. After a pause of the process, the Err of fn's
// context reports the end at once, because it asks the hold; Done may close later.
//
// Lead returns, always with an error and without the lock:
//
//   - ctx's error: ctx ended. It is joined with what fn returned then.
//   - fn's error, if fn returned it while it led. It is joined with the release's error,
//     if there is one.
//   - ErrClosed: the client was closed, or is being shut down.
//   - ErrRefused: the server's error, which a later try is likely to meet too.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent. Wait can't be used.
//
// It serves the purpose of etcd's Election and of Kubernetes' leader election. Redisson
// has nothing like it.
func (l *Lock) Lead(ctx context.Context, fn func(ctx context.Context) error, opts ...AcquireOption) error {
	var t terms
	if err := setTerms(&t, -1, opts); err == nil && t.HasWait {
		return wrap("lead by", l.Name(), fmt.Errorf("%w: Wait: who leads waits until ctx ends", ErrInvalidOption))
	}
	pause := redisconn.Backoff{First: firstLeadPause, Last: lastLeadPause}
	for {
		began := time.Now()
		ended, err := l.lead(ctx, fn, opts)
		switch over := ctx.Err(); {
		case over != nil && !errors.Is(err, over):
			return errors.Join(wrap("lead by", l.Name(), over), err)
		case err != nil && (over != nil || ended || !passes(err)):
			return err
		}
		if time.Since(began) > lastLeadPause {
			pause.Reset()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.Next()):
		}
	}
}

// passes reports whether a later attempt may succeed after err.
func passes(err error) bool {
	for _, one := range []error{ErrUncertain, ErrUnavailable, ErrUnreplicated, ErrLeaseLost} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// lead acquires the lock and runs fn while it holds it. ended reports whether fn returned
// an error while it led.
func (l *Lock) lead(ctx context.Context, fn func(ctx context.Context) error, opts []AcquireOption) (ended bool, err error) {
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		return false, err
	}
	err = whileHeld(ctx, h, func(ctx context.Context) error {
		err := fn(leading{ctx, h})
		ended = err != nil && h.Err() == nil
		return err
	})
	if !ended {
		err = nil
	}
	return ended, err
}

// leading is fn's context.
type leading struct {
	context.Context

	h *Hold
}

// Err asks the hold first, which ends the context if the hold's time is up.
func (c leading) Err() error {
	_ = c.h.Err()
	return c.Context.Err()
}
