package main

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// nightly is the README's example, word for word; a test compares them.
func nightly(ctx context.Context, redisURL string, settle func(context.Context) error) error {
	client, err := rlock.Open(ctx, redisURL) // one a process: redis://localhost:6379
	if err != nil {
		return err
	}
	defer client.Close()

	// The lock that Java calls redisson.getLock("invoices").
	invoices := client.NewLock("invoices")

	// Waits until it is free. settle's context ends early if the lock is lost.
	if err := invoices.Do(ctx, settle); err != nil {
		return err
	}

	// The same by hand, for at most five seconds of waiting.
	hold, err := invoices.TryLockFor(ctx, 5*time.Second)
	if errors.Is(err, rlock.ErrLocked) {
		log.Print("somebody else is at it")
		return nil
	} else if err != nil {
		return err
	}
	held, cancel := hold.Context(ctx) // ends with the hold
	defer cancel()
	return errors.Join(settle(held), hold.Unlock(ctx))
}
