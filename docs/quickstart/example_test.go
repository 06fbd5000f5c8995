package main

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// reconcile is the README's example, word for word; a test compares them.
func reconcile(ctx context.Context, client *rlock.Client, work func(context.Context) error) error {
	invoices := client.NewLock("invoices")                   // in Java: redisson.getLock("invoices")
	err := invoices.Do(ctx, work, rlock.Wait(5*time.Second)) // renews the lock while work runs
	if errors.Is(err, rlock.ErrLocked) {
		return nil // others held it for five seconds; work did not run
	}
	return err
}
