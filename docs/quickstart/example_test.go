package main

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// nightly is the README's example, word for word; a test compares them.
func nightly(ctx context.Context, redisURL string, settle func(context.Context) error) error {
	client, err := rlock.Open(ctx, redisURL) // redis://localhost:6379; one client per process
	if err != nil {
		return err
	}
	defer client.Close()

	invoices := client.NewLock("invoices")                     // in Java: redisson.getLock("invoices")
	return invoices.Do(ctx, settle, rlock.Wait(5*time.Second)) // settle's ctx ends if the lock is lost
}
