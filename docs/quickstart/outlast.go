package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// outlast has billing work for longer than two leases.
func outlast(ctx context.Context, tell *timeline, billing, shipping *service) (err error) {
	hold, err := billing.lock.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Unlock(ctx)) }()
	first := hold.ValidUntil()
	tell.says(billing, "Lock: acquired, to be trusted until %s", tell.at(first))
	held, stop := hold.Context(ctx) // ends if the lock is lost
	defer stop()
	for range 4 {
		if err := work(held, 900*time.Millisecond); err != nil {
			return err
		}
		ttl, err := billing.lock.RemainTTL(held)
		if err != nil {
			return err
		}
		tell.says(billing, "at work; the key has %.2f s to live, trusted until %s", ttl.Seconds(), tell.at(hold.ValidUntil()))
	}
	if err := refused(ctx, shipping); err != nil {
		return err
	}
	tell.says(shipping, "TryLock: locked by another owner, 3.6 s after a lease of %v began", watchdogTimeout)
	if !hold.ValidUntil().After(first.Add(time.Second)) {
		return fmt.Errorf("the watchdog extended nothing")
	}
	return nil
}
