package rlocktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest"
)

func TestHoldWithoutAServerIsHeldUntilItsUnlock(t *testing.T) {
	hold, _ := rlocktest.NewHold(t, "orders")
	if err := hold.Err(); err != nil || hold.Name() != "orders" || !hold.ValidUntil().After(time.Now()) {
		t.Errorf("%v is held until %v: %v", hold, hold.ValidUntil(), err)
	}
	ctx, cancel := hold.Context(t.Context())
	defer cancel()
	if err := hold.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	<-ctx.Done()
	<-hold.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, rlock.ErrReleased) || !errors.Is(hold.Err(), rlock.ErrReleased) {
		t.Errorf("the context ended with %v, the hold with %v", cause, hold.Err())
	}
	if err := hold.Unlock(t.Context()); !errors.Is(err, rlock.ErrReleased) {
		t.Errorf("a second unlock: %v", err)
	}
}

func TestHoldWithoutAServerEndsAsItIsTold(t *testing.T) {
	for name, row := range map[string]struct {
		with   error
		unlock []error // the errors that Unlock then returns
	}{
		"lost":     {rlock.ErrLeaseLost, []error{rlock.ErrLeaseLost, rlock.ErrNotHeld}},
		"closed":   {rlock.ErrClosed, []error{rlock.ErrClosed}},
		"released": {rlock.ErrReleased, []error{rlock.ErrReleased}},
	} {
		t.Run(name, func(t *testing.T) {
			hold, end := rlocktest.NewHold(t, "orders")
			ctx, cancel := hold.Context(t.Context())
			defer cancel()
			end(row.with)
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), row.with) || !errors.Is(hold.Err(), row.with) {
				t.Errorf("the context ended with %v, the hold with %v", context.Cause(ctx), hold.Err())
			}
			err := hold.Unlock(t.Context())
			for _, again := range []error{rlock.ErrLeaseLost, rlock.ErrReleased, rlock.ErrClosed} {
				end(again) // as a defer would
				if !errors.Is(hold.Err(), row.with) {
					t.Errorf("ended once more, with %v: %v", again, hold.Err())
				}
			}
			for _, want := range row.unlock {
				if !errors.Is(err, want) {
					t.Errorf("Unlock: %v, want %v", err, want)
				}
			}
		})
	}
}

func TestHoldWithoutAServerTakesOptions(t *testing.T) {
	hold, _ := rlocktest.NewHold(t, "orders", rlock.Lease(time.Minute), rlock.Wait(0))
	if err := hold.Extend(t.Context(), time.Hour); err != nil || time.Until(hold.ValidUntil()) < 50*time.Minute {
		t.Errorf("valid until %v, %v", hold.ValidUntil(), err)
	}
}

// A hold from NewHold is renewed like any other.
func TestHoldWithoutAServerOutlivesItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, _ := rlocktest.NewHold(t, "orders")
		time.Sleep(2 * time.Minute)
		if err := hold.Err(); err != nil {
			t.Error(err)
		}
	})
}

// Channels from a synctest bubble can't be used outside of it.
func TestHoldsInABubbleLeaveNothingForOthers(t *testing.T) {
	pair := func(t *testing.T) {
		hold, _ := rlocktest.NewHold(t, "orders")
		if err := hold.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for range 20 {
		synctest.Test(t, pair)
		pair(t)
	}
}
