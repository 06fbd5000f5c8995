package rlock

import (
	"context"
	"errors"
	"fmt"
)

// Do runs fn while it holds the lock, which it acquires as Lock does with these
// options. fn's context derives from ctx and also ends with the hold. Its cause
// is then ErrLeaseLost, or ErrClosed if the client was closed, and fn should
// stop. If ctx ends while fn runs, the lock stays held until fn returns. Do
// never returns before fn. It releases the lock when fn returns, panics or
// calls runtime.Goexit.
//
// The error joins fn's error, ErrLeaseLost if the lock was lost before fn returned, and the
// release's error, see [Hold.Unlock]. If a [Margin] ended the context and fn returns ctx.Err(),
// Do joins the cause, which is ErrLeaseLost. If the acquire failed, fn did not run, and the error
// is the acquire's, see [Lock.Lock].
func (l *Lock) Do(ctx context.Context, fn func(ctx context.Context) error, opts ...AcquireOption) error {
	if err := l.checkFn(fn == nil); err != nil {
		return err
	}
	return l.DoHold(ctx, func(ctx context.Context, _ *Hold) error { return fn(ctx) }, opts...)
}

// DoHold is Do for a function that needs the [Hold], for its Token or its Owner. If fn
// unlocks it, the error includes ErrReleased. Its other errors are Do's.
func (l *Lock) DoHold(ctx context.Context, fn func(ctx context.Context, h *Hold) error, opts ...AcquireOption) error {
	if err := l.checkFn(fn == nil); err != nil {
		return err
	}
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		return err
	}
	return whileHeld(ctx, h, func(ctx context.Context) error { return fn(ctx, h) })
}

// checkFn refuses a nil function before anything is acquired for it.
func (l *Lock) checkFn(isNil bool) error {
	if !isNil {
		return nil
	}
	return wrap("use", l.Name(), errNoFunction)
}

var errNoFunction = fmt.Errorf("%w: a nil function", ErrInvalidOption)

// held is a Hold or a MultiHold.
type held interface {
	Context(parent context.Context) (context.Context, context.CancelFunc)
	Err() error
	Unlock(ctx context.Context) error
}

// whileHeld runs fn, and releases h when it returns, panics or exits.
func whileHeld(ctx context.Context, h held, fn func(ctx context.Context) error) (err error) {
	during, cancel := h.Context(ctx)
	defer cancel()
	// fn may panic or call Goexit, so only a deferred call is sure to release.
	defer func() {
		ended := h.Err()
		uerr := h.Unlock(ctx)
		switch told, why := errors.Is(uerr, errors.Unwrap(ended)), context.Cause(during); {
		case ended == nil && errors.Is(why, ErrLeaseLost) && errors.Is(err, during.Err()):
			err = fmt.Errorf("%w: %w", err, why) // its Margin ended the context, and fn returned only that
		case err == ended && told:
			err = nil // fn returned its context's cause, which is in uerr too
		case err != ended && errors.Is(ended, ErrLeaseLost) && !told:
			err = errors.Join(err, ended)
		}
		err = errors.Join(err, uerr)
	}()
	return fn(during)
}
