package rlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// The pauses of Lead between two stands grow from the first to the last. Both are the
// longest of their kind.
const (
	firstLeadPause = 100 * time.Millisecond
	lastLeadPause  = time.Second
)

// Lead has this process stand for election until ctx ends, and runs fn in each of its
// terms, which begin when it acquires the lock. So one process of all that call Lead
// leads; if it ends or dies, another one does within the lease and two seconds.
//
// fn's context derives from ctx and also ends with the lock, as in [Lock.Do]. fn must
// return then, and Lead waits for it. If the lock was lost, Lead stands again, whatever fn
// returned. If fn returns nil while it leads, Lead releases the lock, so that another
// process can lead, and stands again. It also stands again after an error that passes:
// ErrUncertain, ErrUnavailable, ErrUnreplicated, or ErrLeaseLost. Between two stands it
// pauses, for up to a second. In a process that was paused, the Err of fn's context tells
// of the end at once, because it asks the hold; Done may close later.
//
// Lead returns, always with an error and without the lock:
//
//   - ctx's error: ctx ended. What fn returned then is joined.
//   - fn's error, if fn returned it while it led. If the release fails, its error is joined.
//   - ErrClosed: the client was closed, or is being shut down.
//   - ErrRefused: the server's error, which a later try is likely to meet too.
//   - ErrInvalidOption, ErrInvalidName: it never stood. Wait can't be used.
//
// It is what etcd's Election and Kubernetes' leader election are for. Redisson has none.
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

// passes tells whether a later try may have no such error.
func passes(err error) bool {
	for _, one := range []error{ErrUncertain, ErrUnavailable, ErrUnreplicated, ErrLeaseLost} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// lead stands once, and serves a term if it wins. ended says that err is fn's,
// returned while it led.
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

// leading is the context of a term.
type leading struct {
	context.Context

	h *Hold
}

// Err asks the hold first: if its time is up, that ends the context.
func (c leading) Err() error {
	_ = c.h.Err()
	return c.Context.Err()
}
