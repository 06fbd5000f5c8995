package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// locks are the kinds that run accepts, except permits.
var locks = map[string]func(*rlock.Client, string) *rlock.Lock{
	"lock":         (*rlock.Client).NewLock,
	"fair":         (*rlock.Client).NewFairLock,
	"fenced":       (*rlock.Client).NewFencedLock,
	"spin":         (*rlock.Client).NewSpinLock,
	"nonreentrant": (*rlock.Client).NewNonReentrantLock,
	"read":         func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() },
	"write":        func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() },
}

var kindNames = []string{"lock", "fair", "fenced", "read", "write", "spin", "nonreentrant", "permit"}

// take acquires the lock or permit, and returns the function that releases it.
func (r *run) take(ctx context.Context, c *rlock.Client) (environment []string, release func(context.Context) error, err error) {
	var opts []rlock.AcquireOption
	if r.lease != 0 {
		opts = append(opts, rlock.Lease(r.lease))
	}
	if r.atLeast != 0 {
		opts = append(opts, rlock.AtLeast(r.atLeast))
	}
	if r.wait >= 0 {
		opts = append(opts, rlock.Wait(r.wait))
	}
	owner, token := "", int64(0)
	if r.kind == "permit" {
		p, err := c.NewPermitSemaphore(r.name).Acquire(ctx, 1, opts...)
		if err != nil {
			return nil, nil, missed(ctx, err)
		}
		r.hold, release, owner = p, p.Release, p.IDs()[0]
	} else {
		h, err := locks[r.kind](c, r.name).Lock(ctx, opts...)
		if err != nil {
			return nil, nil, missed(ctx, err)
		}
		r.hold, release, owner, token = h, h.Unlock, h.Owner().String(), h.Token()
	}
	environment = []string{"RLOCK_NAME=" + r.name, "RLOCK_OWNER=" + owner, "RLOCK_VALID_UNTIL=" + r.hold.ValidUntil().Format(time.RFC3339Nano)}
	if token > 0 {
		environment = append(environment, fmt.Sprintf("RLOCK_TOKEN=%d", token))
	}
	return environment, release, nil
}

// missed is the error if nothing was acquired. A lock that was lost before the
// command began counts as not acquired.
func missed(ctx context.Context, err error) error {
	if errors.Is(err, rlock.ErrLeaseLost) && ctx.Err() == nil {
		return &exit{notAcquired, err}
	}
	return err
}
