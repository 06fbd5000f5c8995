package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	var opts []rlock.PermitOption
	if r.lease != 0 {
		opts = append(opts, rlock.Lease(r.lease))
	}
	if r.wait >= 0 {
		opts = append(opts, rlock.Wait(r.wait))
	}
	if r.onLost == "term" {
		opts = append(opts, rlock.Margin(r.grace))
	}
	owner, token := "", int64(0)
	if r.kind == "permit" {
		p, err := c.NewPermitSemaphore(r.name).Acquire(ctx, 1, opts...)
		if err != nil {
			return nil, nil, missed(ctx, err)
		}
		r.hold, release, owner = p, p.Release, p.IDs()[0]
	} else {
		var all []rlock.AcquireOption
		for _, o := range opts {
			all = append(all, o)
		}
		if r.atLeast != 0 {
			all = append(all, rlock.AtLeast(r.atLeast))
		}
		if o := r.outer(); o != nil {
			all = append(all, rlock.As(*o))
		}
		h, err := locks[r.kind](c, r.name).Lock(ctx, all...)
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

// outer returns the owner of the "rlock run" that this one is a part of, if both are for the same lock.
func (r *run) outer() *rlock.Owner {
	if os.Getenv("RLOCK_NAME") != r.name {
		return nil
	}
	o, err := rlock.ParseOwner(os.Getenv("RLOCK_OWNER"))
	if err != nil {
		return nil // there is none, or it is a permit's id
	}
	return &o
}

// lasting returns the watchdog timeout, which is at least what the outer "rlock run" has left of its
// lease: what this one does with the lock sets the lease anew.
func (r *run) lasting() time.Duration {
	until, err := time.Parse(time.RFC3339Nano, os.Getenv("RLOCK_VALID_UNTIL"))
	if r.outer() == nil || err != nil {
		return r.watchdog
	}
	return max(r.watchdog, time.Until(until).Truncate(time.Millisecond)+time.Second)
}
