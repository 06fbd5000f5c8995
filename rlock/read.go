package rlock

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// read is every read of the lock. A read that
// met a broken connection is sent again, for at most a command timeout.
func (l *Lock) read(ctx context.Context, command string, args ...any) (any, error) {
	if err := l.usable(); err != nil {
		return nil, err
	}
	if l.l.Closed() {
		return nil, wrap("ask about", l.Name(), ErrClosed)
	}
	reply, err := l.l.Query(ctx, command, args...)
	if err != nil {
		return nil, wrap("ask about", l.Name(), err)
	}
	return reply, nil
}

// IsLocked tells whether anybody holds the lock, Java included. It blocks
// until the server answers, ctx ends or a command timeout has passed.
// Redisson's isLocked.
func (l *Lock) IsLocked(ctx context.Context) (bool, error) {
	reply, err := l.read(ctx, "EXISTS", l.l.Key())
	if err != nil {
		return false, err
	}
	locked, err := codec.DecodeExists(reply)
	if err != nil {
		return false, wrap("ask about", l.Name(), err)
	}
	return locked, nil
}

// IsHeldBy tells whether owner holds the lock, as the server sees it. It
// blocks like IsLocked. ErrInvalidOption: the zero Owner. Redisson's
// isHeldByThread.
func (l *Lock) IsHeldBy(ctx context.Context, owner Owner) (bool, error) {
	if err := owner.check(); err != nil {
		return false, wrap("ask about", l.Name(), err)
	}
	reply, err := l.read(ctx, "HEXISTS", l.l.Key(), owner.o.Text())
	if err != nil {
		return false, err
	}
	held, err := codec.DecodeExists(reply)
	if err != nil {
		return false, wrap("ask about", l.Name(), err)
	}
	return held, nil
}

// HoldCount is how many times owner holds the lock, 0 if it does not. It
// blocks like IsLocked. ErrInvalidOption: the zero Owner. Redisson's
// getHoldCount.
func (l *Lock) HoldCount(ctx context.Context, owner Owner) (int, error) {
	if err := owner.check(); err != nil {
		return 0, wrap("ask about", l.Name(), err)
	}
	reply, err := l.read(ctx, "HGET", l.l.Key(), owner.o.Text())
	if err != nil {
		return 0, err
	}
	count, err := codec.DecodeCount(reply)
	if err != nil {
		return 0, wrap("ask about", l.Name(), err)
	}
	return int(count), nil
}

// RemainTTL is how long the key has still to live, in whole milliseconds, or
// time.Duration(-1) when it never expires.
// ErrNotLocked: nobody holds the lock. It blocks like IsLocked. Redisson's
// remainTimeToLive.
func (l *Lock) RemainTTL(ctx context.Context) (time.Duration, error) {
	reply, err := l.read(ctx, "PTTL", l.l.Key())
	if err != nil {
		return 0, err
	}
	ttl, exists, err := codec.DecodeTTL(reply)
	switch {
	case err != nil:
		return 0, wrap("ask about", l.Name(), err)
	case !exists:
		return 0, wrap("ask about", l.Name(), ErrNotLocked)
	}
	return ttl, nil
}
