package worker

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/rlock"
)

// taking is the ways to take a lock or permits.
type taking struct {
	try, wait func(ctx context.Context, opts ...rlock.AcquireOption) (granted, error)
	tryFor    func(ctx context.Context, wait time.Duration, opts ...rlock.AcquireOption) (granted, error)
}

// granted is a hold, and whose it is.
type granted struct {
	hold  hold
	owner string
}

// taking is of a part of the kind, or of so many permits as e is told.
func (s *stay) taking(part int, e *history.Event) taking {
	if s.kind.Permits > 0 {
		e.Permits = 1
		if s.chance(25) {
			e.Permits = 2
		}
		if s.kind.Lasting {
			return s.takingLent(e.Permits, e.Op)
		}
		return takingPermits(s.seats[s.lock], e.Permits)
	}
	l := s.locks[s.lock][part]
	return taking{
		try: func(ctx context.Context, opts ...rlock.AcquireOption) (granted, error) {
			return ofLock(l.TryLock(ctx, opts...))
		},
		wait: func(ctx context.Context, opts ...rlock.AcquireOption) (granted, error) {
			return ofLock(l.Lock(ctx, opts...))
		},
		tryFor: func(ctx context.Context, wait time.Duration, opts ...rlock.AcquireOption) (granted, error) {
			return ofLock(l.TryLockFor(ctx, wait, opts...))
		},
	}
}

func ofLock(h *rlock.Hold, err error) (granted, error) {
	if err != nil {
		return granted{}, err
	}
	return granted{h, testbed.Holder(h)}, nil
}

func takingPermits(seats *rlock.PermitSemaphore, n int) taking {
	return taking{
		try: func(ctx context.Context, opts ...rlock.AcquireOption) (granted, error) {
			return ofPermits(seats.TryAcquire(ctx, n, opts...))
		},
		wait: func(ctx context.Context, opts ...rlock.AcquireOption) (granted, error) {
			return ofPermits(seats.Acquire(ctx, n, opts...))
		},
		tryFor: func(ctx context.Context, wait time.Duration, opts ...rlock.AcquireOption) (granted, error) {
			return ofPermits(seats.TryAcquireFor(ctx, n, wait, opts...))
		},
	}
}

// permits are released where a hold is unlocked.
type permits struct{ *rlock.Permits }

func (p permits) Unlock(ctx context.Context) error { return p.Release(ctx) }

func ofPermits(p *rlock.Permits, err error) (granted, error) {
	if err != nil {
		return granted{}, err
	}
	return granted{permits{p}, p.IDs()[0]}, nil
}
