package rlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Lead's pauses between two attempts grow from the first to the last. Each is shortened at
// random to as little as half.
const (
	firstLeadPause   = 100 * time.Millisecond
	lastLeadPause    = time.Second     // between two terms
	lastRefusedPause = 3 * time.Second // after attempts that failed
)

// leadPlace is how long the place of a dead candidate keeps others from a fair lock that is free.
const leadPlace = time.Second

// Lead makes this process a candidate until ctx ends, and runs fn each time that it
// leads, which is while it holds the lock. So one process of all that call Lead leads.
// If it ends or dies, another one leads within the lease plus two seconds.
//
// fn's context derives from ctx and also ends with the lock, as in [Lock.Do], and with
// ErrClosed as its cause when Shutdown begins. fn must return then, and Lead waits for it.
// If the lock was lost, or its [Margin] ended the context, Lead tries again, whatever fn
// returned. If fn returns nil while it leads, Lead releases the lock, so that another process
// can lead, and tries again after a pause of up to a second. After a pause of the process, the
// Err of fn's context reports the end at once, because it asks the hold; Done may close later.
//
// Lead also tries again after every other error of an acquire: ErrUnavailable, ErrUncertain,
// ErrUnreplicated, ErrLeaseLost, and also ErrRefused, because a server that has no memory, can't
// save or refuses the account may be mended while the process lives. Its pauses then grow to
// three seconds. It logs the error as a warning, and logs again only when the cause changes.
//
// Lead returns, always with an error and without the lock:
//
//   - ctx's error: ctx ended. It is joined with what fn returned then.
//   - fn's error, if fn returned it while it led. It is joined with the release's error,
//     if there is one.
//   - ErrClosed: the client was closed, or is being shut down. It is joined with what fn
//     returned then.
//   - ErrInvalidOption, ErrInvalidName: nothing was sent. Wait and As can't be used, and
//     neither can a read lock: several owners would lead.
//
// A fair lock has no advantage for leaders. Its candidates keep their places on the server for
// only a second longer than the lease, so that the place of a dead one does not keep the others
// out; one that lost its place queues again at the end.
//
// It serves the purpose of etcd's Election and of Kubernetes' leader election. Redisson
// has nothing like it.
func (l *Lock) Lead(ctx context.Context, fn func(ctx context.Context) error, opts ...AcquireOption) error {
	if err := l.canLead(ctx, fn, opts); err != nil {
		return err
	}
	opts = append(slices.Clip(opts), acquireOption(func(t *terms) error { t.Place = leadPlace; return nil }))
	pause := redisconn.Backoff{First: firstLeadPause}
	var logged string
	for {
		began := time.Now()
		led, ended, err := l.lead(ctx, fn, opts)
		switch over := ctx.Err(); {
		case over != nil && !errors.Is(err, over):
			return errors.Join(wrap("lead by", l.Name(), over), err)
		case err != nil && (over != nil || ended || isFinal(err)):
			return err
		}
		if lasted := time.Since(began); led && lasted > lastLeadPause || lasted > 2*l.l.Client.Timeout {
			pause.Reset()
			logged = "" // it has led, or has waited while another one led
		}
		if pause.Last = lastLeadPause; !led {
			pause.Last = lastRefusedPause
			if cause := causeOf(err); cause != logged {
				logged = cause
				l.l.Client.Log.NotLeading(ctx, eventlog.Lock{Name: l.Name()}, err)
			}
		}
		select {
		case <-ctx.Done():
		case <-l.l.Client.Ending.Done():
		case <-time.After(pause.Next()):
		}
	}
}

// canLead returns why nobody can lead by the lock with these options, or nil.
func (l *Lock) canLead(ctx context.Context, fn func(context.Context) error, opts []AcquireOption) error {
	err := cmp.Or(l.unusableIn(ctx), l.checkFn(fn == nil))
	if err != nil {
		return err
	}
	var t terms
	switch err = setTerms(&t, -1, opts); {
	case err != nil:
	case t.HasWait:
		err = fmt.Errorf("%w: Wait: who leads waits until ctx ends", ErrInvalidOption)
	case t.As:
		err = fmt.Errorf("%w: As: all candidates with this owner would lead at once", ErrInvalidOption)
	case l.l.Traits.Width != 1:
		err = fmt.Errorf("%w: a read lock, which several owners hold at once", ErrInvalidOption)
	}
	return wrap("lead by", l.Name(), err)
}

// isFinal reports whether no later attempt can succeed after err.
func isFinal(err error) bool {
	return errors.Is(err, ErrClosed) || errors.Is(err, ErrInvalidOption) || errors.Is(err, ErrInvalidName)
}

// causeOf is what makes two errors of a candidate differ: the code of the server's error, or the
// kind of the error.
func causeOf(err error) string {
	if said, ok := redisconn.RefusalOf(err); ok {
		return said.Code()
	}
	for _, one := range kinds {
		if errors.Is(err, one) {
			return one.Error()
		}
	}
	return ""
}

// lead acquires the lock and runs fn while it holds it. led reports whether fn ran, ended whether
// it returned an error while it led, or the client is ending.
func (l *Lock) lead(ctx context.Context, fn func(ctx context.Context) error, opts []AcquireOption) (led, ended bool, err error) {
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		return false, false, err
	}
	ending := l.l.Client.Ending
	err = whileHeld(ctx, h, func(during context.Context) error {
		during, cancel := context.WithCancelCause(during)
		defer cancel(nil)
		shut := wrap("lead by", l.Name(), fmt.Errorf("%w: it is being shut down", ErrClosed))
		defer context.AfterFunc(ending, func() { cancel(shut) })()
		err := fn(leading{during, h})
		lost := h.Err() != nil || ctx.Err() == nil && errors.Is(context.Cause(during), ErrLeaseLost) // by its Margin
		if ended = err != nil && !lost; ended && ending.Err() != nil && !errors.Is(err, ErrClosed) {
			err = errors.Join(shut, err)
		}
		return err
	})
	if !ended {
		err = nil
	}
	return true, ended, err
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
