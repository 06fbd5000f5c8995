package rlock

import (
	"errors"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestOneAcquireTakesNoMorePermitsThanOneScriptMay(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	seats := open(t, s).NewPermitSemaphore("seats")
	if _, err := seats.TrySetPermits(t.Context(), 100_000); err != nil {
		t.Fatal(err)
	}
	p, err := seats.TryAcquire(t.Context(), 5_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if p, err := seats.TryAcquire(t.Context(), 5_001); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("%v, %v", p, err)
	}
}
