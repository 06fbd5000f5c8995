package rlocktest_test

// The code that docs/testing.md shows is between the markers of its name.

// begin page: code

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest"
)

// locker is what settle wants of a lock. *rlock.Lock has it.
type locker interface {
	Do(ctx context.Context, fn func(context.Context) error, opts ...rlock.AcquireOption) error
}

var errBusy = errors.New("somebody else settles the accounts")

// settle settles one account after the other, and stops when the lock is lost.
func settle(ctx context.Context, lock locker, accounts []func(context.Context) error) error {
	err := lock.Do(ctx, func(ctx context.Context) error {
		for _, account := range accounts {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := account(ctx); err != nil {
				return err
			}
		}
		return nil
	}, rlock.Wait(5*time.Second))
	if errors.Is(err, rlock.ErrLocked) {
		return fmt.Errorf("%w: %w", errBusy, err)
	}
	return err
}

// end page

// begin page: open

func TestSettleStopsWhenTheLockIsLost(t *testing.T) {
	client := rlocktest.Open(t)
	settled := 0
	err := settle(t.Context(), client.NewLock("accounts"), []func(context.Context) error{
		func(ctx context.Context) error {
			settled++
			client.TakeAway("accounts")
			<-ctx.Done() // as a query would end
			return nil
		},
		func(context.Context) error { settled++; return nil },
	})
	if !errors.Is(err, rlock.ErrLeaseLost) || settled != 1 {
		t.Errorf("settled %d accounts: %v", settled, err)
	}
}

// end page

// begin page: virtual

func TestReportIsMadeOncePerHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, made := rlocktest.OpenVirtual(t), 0
		report := func(on *rlock.Client) {
			err := on.NewLock("report").Do(t.Context(), func(context.Context) error { made++; return nil }, rlock.Wait(0), rlock.AtLeast(50*time.Minute))
			if err != nil && !errors.Is(err, rlock.ErrLocked) {
				t.Error(err)
			}
		}
		other := client.Another() // as in another process
		report(client.Client)
		report(other)
		time.Sleep(time.Hour) // takes no time
		report(other)
		if made != 2 {
			t.Errorf("made %d reports in two hours", made)
		}
	})
}

// end page

// begin page: fake

// uncertain runs fn, and does not learn whether the lock was released.
type uncertain struct{}

func (uncertain) Do(ctx context.Context, fn func(context.Context) error, _ ...rlock.AcquireOption) error {
	return errors.Join(fn(ctx), rlock.ErrUncertain)
}

func TestSettleTellsThatTheReleaseIsUncertain(t *testing.T) {
	if err := settle(t.Context(), uncertain{}, nil); !errors.Is(err, rlock.ErrUncertain) {
		t.Error(err)
	}
}

// end page

// busy never runs fn.
type busy struct{}

func (busy) Do(context.Context, func(context.Context) error, ...rlock.AcquireOption) error {
	return rlock.ErrLocked
}

func TestSettleTellsThatItIsBusy(t *testing.T) {
	if err := settle(t.Context(), busy{}, nil); !errors.Is(err, errBusy) {
		t.Error(err)
	}
}

// watch waits until the hold is over, and reports why.
func watch(hold *rlock.Hold, report func(error)) {
	<-hold.Done()
	report(hold.Err())
}

func TestWatchReportsTheLoss(t *testing.T) {
	hold, end := rlocktest.NewHold(t, "accounts")
	reported := make(chan error, 1)
	go watch(hold, func(err error) { reported <- err })
	end(rlock.ErrLeaseLost)
	if err := <-reported; !errors.Is(err, rlock.ErrLeaseLost) {
		t.Errorf("reported %v", err)
	}
}

func TestSettleWithARealLock(t *testing.T) {
	client := rlocktest.Open(t)
	settled := 0
	one := func(context.Context) error { settled++; return nil }
	if err := settle(t.Context(), client.NewLock("accounts"), []func(context.Context) error{one, one}); err != nil || settled != 2 {
		t.Errorf("settled %d accounts: %v", settled, err)
	}
}
