package rlock

import (
	"context"
	"errors"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/refusal"
)

// otherType is a WRONGTYPE of the server's, with what the key holds.
type otherType struct {
	error
	found string
}

func (e otherType) Error() string { return "the key holds a " + e.found + ", which is no lock" }

func (e otherType) Unwrap() error { return e.error }

// named says what the key holds, if err is the server's that it holds something else. It asks
// once more then.
func (l *Lock) named(ctx context.Context, err error) error {
	if said, _ := refusal.Of(err); !said.WrongType() {
		return err
	}
	found, asked := redis.String(l.l.Read(ctx, func(*kind.Want) kind.Call { return kind.Read("TYPE", l.l.Key()) }))
	if asked != nil || found == "none" || found == "hash" {
		return err // it is another of its keys, or has changed
	}
	return otherType{lockerr.Classify(err), found}
}

// noLock says that the key is a hash that is no lock, if it is, instead of err: that it is
// locked. It asks once more.
func (l *Lock) noLock(ctx context.Context, err error) error {
	_, _, asked := l.l.Holder(ctx)
	if _, is := errors.AsType[*codec.ShapeError](asked); is {
		return asked
	}
	return err
}
