package rlock

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
)

// ask sends each read of the lock except Info's. If the connection breaks, it
// sends the read again, for at most a command timeout.
func (l *Lock) ask(ctx context.Context, q kind.Question, o locks.Owner) (kind.Answer, error) {
	if err := l.unusableIn(ctx); err != nil {
		return kind.Answer{}, err
	}
	answer, err := l.l.Ask(ctx, q, o)
	return answer, wrap("ask about", l.Name(), l.named(ctx, err))
}

// askOf is ask about an owner.
func (l *Lock) askOf(ctx context.Context, q kind.Question, o Owner) (kind.Answer, error) {
	if err := o.check(); err != nil {
		return kind.Answer{}, wrap("ask about", l.Name(), err)
	}
	return l.ask(ctx, q, o.o)
}

// IsLocked reports whether anybody holds the lock, Java included. It blocks
// until the server answers, ctx ends or a command timeout has passed. Its
// errors are ctx's, ErrUnavailable, ErrRefused, ErrClosed, ErrInvalidOption (a
// zero Lock) and ErrInvalidName. It is Redisson's isLocked.
func (l *Lock) IsLocked(ctx context.Context) (bool, error) {
	answer, err := l.ask(ctx, kind.Locked, locks.Owner{})
	return answer.Yes, err
}

// IsHeldBy reports whether owner holds the lock, as the server sees it. It blocks
// like IsLocked. ErrInvalidOption: the zero Owner. Its other errors are
// [Lock.IsLocked]'s. It is Redisson's isHeldByThread.
func (l *Lock) IsHeldBy(ctx context.Context, owner Owner) (bool, error) {
	answer, err := l.askOf(ctx, kind.HeldBy, owner)
	return answer.Yes, err
}

// HoldCount returns how many times owner holds the lock, 0 if it does not. It
// blocks like IsLocked. ErrInvalidOption: the zero Owner. Its other errors are
// [Lock.IsLocked]'s. It is Redisson's getHoldCount.
func (l *Lock) HoldCount(ctx context.Context, owner Owner) (int, error) {
	answer, err := l.askOf(ctx, kind.HoldCount, owner)
	return int(answer.N), err
}

// NoExpiry is the TTL of a key that never expires.
const NoExpiry time.Duration = -1

// RemainTTL returns how long the key will live without a renewal, in whole
// milliseconds, or NoExpiry. ErrNotLocked: nobody holds the lock. It blocks like
// IsLocked. Its other errors are [Lock.IsLocked]'s. It is Redisson's
// remainTimeToLive.
func (l *Lock) RemainTTL(ctx context.Context) (time.Duration, error) {
	answer, err := l.ask(ctx, kind.RemainTTL, locks.Owner{})
	if err == nil && !answer.Yes {
		err = wrap("ask about", l.Name(), ErrNotLocked)
	}
	return answer.TTL, err
}
