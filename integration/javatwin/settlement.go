package main

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// settle runs work under the lock. ErrLocked: another owner held it for five seconds. README.md shows it beside Java's.
func settle(ctx context.Context, client *rlock.Client, work func(context.Context) error) (err error) {
	// README.md: a job under a lock
	lock := client.NewLock("invoices")
	hold, err := lock.TryLockFor(ctx, 5*time.Second)
	if err != nil {
		return err // ErrLocked: another owner holds it
	}
	defer func() {
		err = errors.Join(err, hold.Unlock(ctx)) // ErrNotHeld: it was lost
	}()
	held, stop := hold.Context(ctx) // ends if the lock is lost
	defer stop()
	return work(held)
	// end
}
