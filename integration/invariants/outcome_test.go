package invariants

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// granted waits for a hold.
func granted(t testing.TB, c <-chan testbed.Entry) *rlock.Hold {
	t.Helper()
	return testbed.Entered(t, c).Hold
}

func lock(t testing.TB, l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	return granted(t, testbed.Enter(t.Context(), l, opts...))
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
