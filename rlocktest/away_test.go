package rlocktest_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest"
)

// held is a Hold or a Permits.
type held interface {
	Done() <-chan struct{}
	Err() error
}

// holders are objects of one name that acquire, each by its kind.
func holders(t *testing.T, c *rlock.Client) map[string]func() (held, error) {
	seats := c.NewPermitSemaphore("k")
	of := func(l *rlock.Lock, opts ...rlock.AcquireOption) func() (held, error) {
		return func() (held, error) { return l.TryLock(t.Context(), opts...) }
	}
	rw := c.NewReadWriteLock("k")
	return map[string]func() (held, error){
		"plain": of(c.NewLock("k")), "fair": of(c.NewFairLock("k")), "fenced": of(c.NewFencedLock("k")), "spin": of(c.NewSpinLock("k")),
		"fixed lease": of(c.NewLock("k"), rlock.Lease(1<<40)), "read": of(rw.ReadLock()), "write": of(rw.WriteLock()),
		"permits": func() (held, error) {
			if _, err := seats.TrySetPermits(t.Context(), 3); err != nil {
				return nil, err
			}
			return seats.TryAcquire(t.Context(), 2)
		},
	}
}

func TestAnyLockIsTakenAway(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		for _, elsewhere := range []bool{false, true} {
			client := open(t)
			holder := client.Client
			if elsewhere {
				holder = client.Another()
			}
			bystander, err := client.NewLock("other").Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for name, hold := range holders(t, holder) {
				h, err := hold()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				client.TakeAway("k")
				<-h.Done()
				if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
					t.Errorf("%s: %v", name, err)
				}
				if name == "permits" {
					if free, err := client.NewPermitSemaphore("k").Available(t.Context()); free != 3 || err != nil {
						t.Errorf("%d permits are free, %v", free, err)
					}
					if _, err := client.NewPermitSemaphore("k").Delete(t.Context()); err != nil {
						t.Error(err)
					}
					continue
				}
				if h, err = hold(); err != nil {
					t.Errorf("%s: it is not free: %v", name, err)
				} else if err := h.(*rlock.Hold).Unlock(t.Context()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := bystander.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAnyLockIsHeldElsewhere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		client := open(t)
		rw := client.NewReadWriteLock("doc")
		reads := client.HoldReadElsewhere("doc")
		if _, err := rw.WriteLock().TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("beside a reader: %v", err)
		}
		if err := reads.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		writes := client.HoldWriteElsewhere("doc")
		if _, err := rw.ReadLock().TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("beside a writer: %v", err)
		}
		if err := writes.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		seats := client.NewPermitSemaphore("seats")
		if _, err := seats.TrySetPermits(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		permits := client.HoldPermitsElsewhere("seats", 2)
		if _, err := seats.TryAcquire(t.Context(), 2); !errors.Is(err, rlock.ErrNoPermits) {
			t.Errorf("two of one permit: %v", err)
		}
		if err := permits.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// failing is a test that only records its failure.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(string, ...any) {
	f.failed = true
	runtime.Goexit()
}

func TestTakingNothingAwayFailsTheTest(t *testing.T) {
	t.Parallel()
	f := &failing{TB: t}
	client := rlocktest.Open(f)
	if _, err := client.NewSemaphore("numbers").TrySetPermits(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"k", "numbers"} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			client.TakeAway(name)
		}()
		if <-ended; !f.failed {
			t.Errorf("%s: nothing was taken, and nobody told", name)
		}
		f.failed = false
	}
}

func TestAnotherServersLockIsNotTakenAway(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		one, two := open(t), open(t)
		hold, err := two.NewLock("k").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		one.HoldElsewhere("k")
		one.TakeAway("k")
		if err := hold.Err(); err != nil {
			t.Errorf("the other server's hold: %v", err)
		}
	})
}
