package rlock

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

func TestUnlockHandsOnWithinAClient(t *testing.T) {
	c := open(t, redistest.Start(t))
	l := c.NewLock("orders")
	for range 3 {
		h, err := l.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan *Hold)
		go func() {
			h, err := c.NewLock("orders").Lock(t.Context())
			if err != nil {
				t.Error(err)
			}
			entered <- h
		}()
		awaitListening(t, c, "orders")
		if err := h.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case h := <-entered:
			if err := h.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the waiter did not enter")
		}
	}
}
