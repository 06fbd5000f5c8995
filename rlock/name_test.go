package rlock

import (
	"errors"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestI1NameBeyondTheBoundIsRefusedAndOneWithinWorks(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	long := strings.Repeat("x", longestName)
	if _, err := c.NewLock(long + "x").TryLock(t.Context()); !errors.Is(err, ErrInvalidName) || len(err.Error()) > 1000 {
		t.Errorf("one byte too many: %.200v", err)
	}
	h, err := c.NewLock(long).Lock(t.Context())
	if err != nil {
		t.Fatalf("%.200v", err)
	}
	// A wait subscribes, and the confirmation contains the name.
	waiter := make(chan error, 1)
	go func() {
		h, err := c.NewLock(long).Lock(t.Context())
		if err == nil {
			err = h.Unlock(t.Context())
		}
		waiter <- err
	}()
	awaitListening(t, c, long)
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatalf("%.200v", err)
	}
	if err := <-waiter; err != nil {
		t.Fatalf("%.200v", err)
	}
}
