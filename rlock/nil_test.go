package rlock

import (
	"context"
	"errors"
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A nil function or context is refused before anything is sent. It would panic later, with the lock held.
func TestNilFunctionsAndContextsAreRefused(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l, permits, semaphore, latch := c.NewLock("orders"), c.NewPermitSemaphore("seats"), c.NewSemaphore("rooms"), c.NewCountDownLatch("ready")
	ctx, fn := t.Context(), func(context.Context) error { return nil }
	var none context.Context
	second := func(_ any, err error) error { return err }
	for what, err := range map[string]error{
		"Do without a function":           l.Do(ctx, nil),
		"DoHold without a function":       l.DoHold(ctx, nil),
		"Lead without a function":         l.Lead(ctx, nil),
		"a MultiLock's Do without one":    NewMultiLock(l).Do(ctx, nil),
		"permits' Do without one":         permits.Do(ctx, 1, nil),
		"a semaphore's Do without one":    semaphore.Do(ctx, 1, nil),
		"Lock without a context":          second(l.Lock(none)),
		"Do without a context":            l.Do(none, fn),
		"Lead without a context":          l.Lead(none, fn),
		"ForceUnlock without a context":   second(l.ForceUnlock(none)),
		"UnlockAs without a context":      l.UnlockAs(none, c.NewOwner()),
		"IsLocked without a context":      second(l.IsLocked(none)),
		"Info without a context":          second(l.Info(none)),
		"a MultiLock without a context":   second(NewMultiLock(l).TryLock(none)),
		"permits without a context":       second(permits.TryAcquire(none, 1)),
		"set permits without a context":   second(permits.TrySetPermits(none, 1)),
		"a semaphore without a context":   semaphore.Acquire(none, 1),
		"Release without a context":       semaphore.Release(none, 1),
		"Available without a context":     second(semaphore.Available(none)),
		"Await of a latch without one":    latch.Await(none),
		"CountDown without a context":     second(0, latch.CountDown(none)),
		"Count of a latch without one":    second(latch.Count(none)),
		"TrySetCount of a latch without":  second(latch.TrySetCount(none, 1)),
		"permits' count without a contex": second(permits.Available(none)),
	} {
		if !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n, err := s.Dial(t).Do("DBSIZE"); n != int64(0) || err != nil {
		t.Errorf("%v keys, %v", n, err)
	}
	if NoExpiry != codec.NoTTL {
		t.Errorf("NoExpiry is %d", NoExpiry)
	}
}
