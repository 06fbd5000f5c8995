package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// entry is how a wait for the lock ended, and when.
type entry struct {
	hold *rlock.Hold
	err  error
	at   time.Time
}

// contend has shipping wait for what billing holds.
func contend(ctx context.Context, tell *timeline, billing, shipping *service) error {
	hold, err := billing.lock.Lock(ctx)
	if err != nil {
		return err
	}
	tell.says(billing, "Lock: acquired")
	if err := refused(ctx, shipping); err != nil {
		return errors.Join(err, hold.Unlock(ctx))
	}
	tell.says(shipping, "TryLock: locked by another owner")

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiter := make(chan entry, 1)
	tell.says(shipping, "Lock: waits ...")
	go func() {
		h, err := shipping.lock.Lock(ctx)
		waiter <- entry{h, err, time.Now()}
	}()
	// Half a lease: had shipping to wait for its end, one would see.
	err = work(ctx, 700*time.Millisecond)
	ttl, terr := billing.lock.RemainTTL(ctx)
	tell.says(billing, "Unlock, after 0.7 s of work; the key had %.2f s to live", ttl.Seconds())
	called := time.Now()
	if err := errors.Join(err, terr, hold.Unlock(ctx)); err != nil {
		// Nobody waits for a lock that may stay taken.
		cancel()
		return errors.Join(err, leave(<-waiter))
	}
	in := <-waiter
	if in.err != nil {
		return in.err
	}
	tell.says(shipping, "Lock: acquired, %s after billing called Unlock", ms(in.at.Sub(called)))
	return in.hold.Unlock(ctx)
}

// refused makes sure that a service can't get in.
func refused(ctx context.Context, s *service) error {
	hold, err := s.lock.TryLock(ctx)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%s entered a lock that is held", s.name), hold.Unlock(ctx))
	case !errors.Is(err, rlock.ErrLocked):
		return err
	}
	return nil
}

// leave gives back what a wait that nobody needs any more may have got.
func leave(e entry) error {
	if e.hold == nil {
		return e.err
	}
	return e.hold.Unlock(context.Background())
}
