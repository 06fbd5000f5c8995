package rlock

import (
	"context"
	"fmt"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockstate"
)

// object is what has a name and a kind, and is changed by commands that are no owner's.
type object struct{ lock Lock }

var errZeroObject = fmt.Errorf("rlock: %w: a zero handle; take one from its Client", ErrInvalidOption)

func (o *object) unusable() error {
	if o.lock.wrong == nil && o.lock.l.Key() == "" {
		return errZeroObject
	}
	return o.lock.wrong
}

func (o *object) failed(doing string, err error) error { return wrap(doing, o.lock.Name(), err) }

// checkNumber checks how many permits are meant.
func (o *object) checkNumber(doing string, n, most int) error {
	if err := o.unusable(); err != nil {
		return err
	}
	if n < 1 || n > most {
		return o.failed(doing, fmt.Errorf("%w: %d permits; at least 1 and at most %d", ErrInvalidOption, n, most))
	}
	return nil
}

// send sends what changes the object.
func (o *object) send(ctx context.Context, call func(*kind.Want) kind.Call) (any, error) {
	if err := o.unusable(); err != nil {
		return nil, err
	}
	return o.lock.l.Change(ctx, false, call)
}

// change is send, whose reply is whether it did anything.
func (o *object) change(ctx context.Context, doing string, call func(*kind.Want) kind.Call) (did bool, err error) {
	reply, err := o.send(ctx, call)
	if err == nil {
		did, err = codec.DecodeExists(reply)
	}
	return did, o.failed(doing, err)
}

// ask reads something of the object.
func (o *object) ask(ctx context.Context, call func(*kind.Want) kind.Call) (any, error) {
	if err := o.unusable(); err != nil {
		return nil, err
	}
	reply, err := o.lock.l.Read(ctx, call)
	return reply, o.failed("ask about", err)
}

// number reads the object's number.
func (o *object) number(ctx context.Context) (int64, error) {
	reply, err := o.ask(ctx, kind.ReadNumber)
	if err != nil {
		return 0, err
	}
	n, err := codec.DecodeNumber(reply)
	return n, o.failed("ask about", err)
}

// pass waits for what nobody holds afterwards: permits without owners, or a gate.
func (o *object) pass(ctx context.Context, doing string, k kind.Kind, t lockstate.Terms) error {
	if err := o.unusable(); err != nil {
		return err
	}
	l := o.lock.l.Of(k)
	w := l.NewWaiter()
	w.Terms = t
	err := w.Begin(ctx)
	if err == nil {
		_, err = w.Result(ctx, w.Await(ctx))
	}
	return o.failed(doing, err)
}
