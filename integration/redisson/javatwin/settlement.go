package main

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// README.md: a job under a lock

// settle runs work under the lock, after five seconds of waiting at most.
//   - ErrLocked: another owner held it all the time, and work did not run.
//   - ErrLeaseLost: it was lost while work ran.
func settle(ctx context.Context, client *rlock.Client, work func(context.Context) error) error {
	lock := client.NewLock("invoices")
	return lock.Do(ctx, work, rlock.Wait(5*time.Second)) // work's ctx ends if the lock is lost
}

// end
