package main

import (
	"context"
	"errors"

	"github.com/rlock-go/redisson/rlock"
)

// reenter has billing lock twice as one owner.
func reenter(ctx context.Context, tell *timeline, billing, _ *service) error {
	outer, err := billing.lock.Lock(ctx)
	if err != nil {
		return err
	}
	tell.says(billing, "Lock: acquired by owner %s", outer.Owner())
	if err := enterAgain(ctx, tell, billing, outer); err != nil {
		_ = outer.Unlock(ctx)
		return err
	}
	if err := outer.Unlock(ctx); err != nil {
		return err
	}
	locked, err := billing.lock.IsLocked(ctx)
	if err != nil {
		return err
	}
	if locked {
		return errors.New("still locked after as many Unlocks as Locks")
	}
	tell.says(billing, "Unlock of the first: the lock is free")
	return nil
}

func enterAgain(ctx context.Context, tell *timeline, billing *service, outer *rlock.Hold) error {
	// A call without As is another owner, even in the same process.
	if err := refused(ctx, billing); err != nil {
		return err
	}
	tell.says(billing, "TryLock without As: locked, each call is an owner of its own")
	inner, err := billing.lock.Lock(ctx, rlock.As(outer.Owner()))
	if err != nil {
		return err
	}
	count, err := billing.lock.HoldCount(ctx, outer.Owner())
	if err != nil {
		_ = inner.Unlock(ctx)
		return err
	}
	tell.says(billing, "Lock with As(that owner): acquired again, holds %d", count)
	if err := inner.Unlock(ctx); err != nil {
		return err
	}
	locked, err := billing.lock.IsLocked(ctx)
	if err != nil {
		return err
	}
	if !locked {
		return errors.New("free after one Unlock of two")
	}
	tell.says(billing, "Unlock of the second: the lock is still held")
	return nil
}
