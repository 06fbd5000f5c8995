package rlock

import (
	"context"
	"errors"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// otherType is the server's WRONGTYPE error, with the type that the key has and the object that it should be.
type otherType struct {
	error
	found, wanted string
}

func (e otherType) Error() string { return "the key holds a " + e.found + ", which is no " + e.wanted }

func (e otherType) Unwrap() error { return e.error }

// named adds the key's type to a WRONGTYPE error, for which it asks the server once more. It
// returns other errors as they are.
func (l *Lock) named(ctx context.Context, err error) error {
	if said, _ := redisconn.RefusalOf(err); !said.WrongType() {
		return err
	}
	found, asked := redis.String(l.l.Read(ctx, func(*kind.Want) kind.Call { return kind.Read("TYPE", l.l.Key()) }))
	if asked != nil || found == "none" || found == l.l.Traits.KeyType {
		return err // another key of the lock has the wrong type, or the key has changed
	}
	return otherType{locks.Classify(err), found, l.l.Traits.Object()}
}

// noLock asks the server once more. For a hash that is no lock it returns the error that says so, or
// adds it to the error of ctx, which has ended. Otherwise it returns err. The question about an ended
// wait takes no longer than any call may take beyond its bound.
func (l *Lock) noLock(ctx context.Context, err error) error {
	over := ctx.Err() != nil
	if over {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), l.l.Client.Timeout/16)
		defer cancel()
	}
	_, asked := l.l.Ask(ctx, kind.Holding, locks.Owner{})
	switch _, is := errors.AsType[*luasrc.ShapeError](asked); {
	case !is:
		return err
	case over:
		return locks.WithTrouble(err, locks.Classify(asked))
	}
	return asked
}
