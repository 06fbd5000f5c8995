package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// lose has shipping take the lock away from billing, which is at work.
func lose(ctx context.Context, tell *timeline, billing, shipping *service) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inside := make(chan struct{})
	learnt := make(chan time.Time, 1)
	result := make(chan error, 1)
	go func() {
		result <- billing.lock.Do(ctx, func(ctx context.Context) error {
			tell.says(billing, "Do: acquired, works for ten seconds, or until its context ends")
			close(inside)
			err := work(ctx, 10*time.Second)
			learnt <- time.Now()
			tell.says(billing, "its context ended: %v", err)
			return err
		})
	}()
	select {
	case <-inside:
	case err := <-result:
		return err
	}

	forced, err := takeAway(ctx, tell, shipping)
	if err != nil {
		cancel()
		return errors.Join(err, <-result)
	}
	err = <-result
	if !errors.Is(err, rlock.ErrLeaseLost) {
		return fmt.Errorf("billing did not learn of its loss: %w", err)
	}
	tell.says(billing, "Do: returned ErrLeaseLost")
	tell.note("          It took %.2f s to learn of it. A resource that can't bear", (<-learnt).Sub(forced).Seconds())
	tell.note("          two writers for that long must check a fencing token.")
	return nil
}

// takeAway does what an operator, or a DEL, might do. It returns when it was
// sent.
func takeAway(ctx context.Context, tell *timeline, shipping *service) (time.Time, error) {
	if err := work(ctx, 700*time.Millisecond); err != nil {
		return time.Time{}, err
	}
	tell.says(shipping, "ForceUnlock: takes the lock away")
	forced := time.Now()
	there, err := shipping.lock.ForceUnlock(ctx)
	if err == nil && !there {
		err = errors.New("there was nothing to take away")
	}
	return forced, err
}
