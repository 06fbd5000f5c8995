package rlocktest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlocktest"
)

func TestFairLockHandsOnInOrder(t *testing.T) {
	c := rlocktest.Open(t)
	l := c.NewFairLock("tickets")
	h, err := l.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan int, 3)
	var waiters sync.WaitGroup
	defer waiters.Wait() // for their unlocks
	for i := range 3 {
		waiters.Go(func() {
			h, err := l.Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			entered <- i
			if err := h.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
		for waiting := 0; waiting <= i; time.Sleep(time.Millisecond) {
			info, err := l.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			waiting = info.Waiters
		}
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if who := <-entered; who != i {
			t.Errorf("%d entered in the place of %d", who, i)
		}
	}
}
