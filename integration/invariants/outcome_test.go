package invariants

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// happens waits for a channel.
func happens[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(soon):
		t.Fatalf("never within %v: %s", soon, what)
	}
	return v
}

// result is what an acquire returned.
type result struct {
	hold *rlock.Hold
	err  error
	at   time.Time
}

// locking calls Lock on a goroutine.
func locking(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan result {
	return calling(func() (*rlock.Hold, error) { return l.Lock(ctx, opts...) })
}

func calling(fn func() (*rlock.Hold, error)) <-chan result {
	c := make(chan result, 1)
	go func() {
		h, err := fn()
		c <- result{h, err, time.Now()}
	}()
	return c
}

// granted waits for a hold.
func granted(t testing.TB, c <-chan result) *rlock.Hold {
	t.Helper()
	got := happens(t, "the acquire returns", c)
	if got.err != nil {
		t.Fatalf("acquire: %v", got.err)
	}
	return got.hold
}

func lock(t testing.TB, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	return granted(t, locking(t.Context(), l, opts...))
}

func unlock(t testing.TB, holds ...*rlock.Hold) {
	t.Helper()
	for _, h := range holds {
		if err := h.Unlock(context.Background()); err != nil {
			t.Fatalf("unlock: %v", err)
		}
	}
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

func wantNot(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if errors.Is(err, target) {
			t.Errorf("error %v is %v, and must not be", err, target)
		}
	}
}

func anyOf(err error, targets []error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

func wantOneOf(t testing.TB, err error, targets ...error) {
	t.Helper()
	if !anyOf(err, targets) {
		t.Errorf("got error %v, want one of %v", err, targets)
	}
}
