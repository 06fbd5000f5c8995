package rlock

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// object is a semaphore or a latch. Its commands belong to no owner.
type object struct{ lock Lock }

// failed adds the operation and the name to err. An unusable handle's error replaces it.
func (o *object) failed(doing string, err error) error {
	if unusable := o.lock.unusable(); unusable != nil {
		return unusable
	}
	return wrap(doing, o.lock.Name(), err)
}

// decoded decodes a reply. If it comes with an error, the change was made, but could
// not be announced, or no replica has it.
func decoded[T any](o *object, doing string, reply any, err error, decode func(any) (T, error)) (v T, _ error) {
	if err == nil || reply != nil {
		var odd error
		v, odd = decode(reply)
		err = cmp.Or(err, odd)
	}
	return v, o.failed(doing, err)
}

// checkNumber checks a number of permits, and that the handle is usable.
func (o *object) checkNumber(doing string, n, least, most int) error {
	if n >= least && n <= most {
		return o.lock.unusable()
	}
	return o.failed(doing, fmt.Errorf("%w: %d permits; at least %d and at most %d", ErrInvalidOption, n, least, most))
}

// send sends a command that changes the object; see locks.Change.
func (o *object) send(ctx context.Context, due bool, call func(*kind.Want) kind.Call) (any, error) {
	if err := o.lock.unusableIn(ctx); err != nil {
		return nil, err
	}
	reply, err := locks.Change(ctx, &o.lock.l, due, call)
	return reply, o.lock.named(ctx, err)
}

// change is send for a command whose reply says whether it changed anything.
func (o *object) change(ctx context.Context, doing string, due bool, call func(*kind.Want) kind.Call) (bool, error) {
	reply, err := o.send(ctx, due, call)
	return decoded(o, doing, reply, err, luasrc.DecodeExists)
}

// ask sends a command that reads the object.
func (o *object) ask(ctx context.Context, call func(*kind.Want) kind.Call) (any, error) {
	if err := o.lock.unusableIn(ctx); err != nil {
		return nil, err
	}
	reply, err := o.lock.l.Read(ctx, call)
	return reply, o.lock.named(ctx, err)
}

// number reads the object's number.
func (o *object) number(ctx context.Context) (int64, error) {
	reply, err := o.ask(ctx, kind.ReadNumber)
	return decoded(o, "ask about", reply, err, luasrc.DecodeNumber)
}

// pass waits for what nobody holds afterwards: permits of a Semaphore, or an open latch.
func (o *object) pass(ctx context.Context, doing string, k kind.Kind, t locks.Terms) error {
	if err := o.lock.unusableIn(ctx); err != nil {
		return err
	}
	l := o.lock.l.Of(k)
	w := locks.NewWaiter(&l)
	w.Terms = t
	err := w.Begin(ctx)
	if err == nil {
		_, err = w.Result(ctx, w.Await(ctx))
		err = o.lock.named(ctx, err)
	}
	return o.failed(doing, err)
}
