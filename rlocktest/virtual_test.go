package rlocktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest"
)

func TestVirtualHoursTakeNoTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := rlocktest.OpenVirtual(t)
		began := time.Now()
		watched, err := client.NewLock("watched").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.NewLock("fixed").Lock(t.Context(), rlock.Lease(time.Hour)); err != nil {
			t.Fatal(err)
		}
		next, err := client.NewLock("fixed").Lock(t.Context(), rlock.Wait(24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began).Round(time.Second); waited != time.Hour {
			t.Errorf("the lease of an hour ended after %v", waited)
		}
		if watched.Err() != nil || next.Err() != nil {
			t.Errorf("after the hour: %v, %v", watched.Err(), next.Err())
		}
	})
}

func TestHoldWithoutAServerInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold, end := rlocktest.NewHold(t, "orders")
		time.Sleep(time.Hour)
		if hold.Err() != nil {
			t.Errorf("after an hour: %v", hold.Err())
		}
		end(rlock.ErrReleased)
	})
}

// fatal notes that a test was failed, and ends its goroutine as testing.T does.
type fatal struct {
	testing.TB
	said bool
}

func (f *fatal) Helper() {}
func (f *fatal) Fatal(...any) {
	f.said = true
	panic(f)
}

func TestOpenInABubbleFailsTheTest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fatal{TB: t}
		defer func() {
			if recover(); !f.said {
				t.Error("real connections would stop the bubble's clock, and nobody said so")
			}
		}()
		rlocktest.Open(f)
	})
}

func TestOpenVirtualOutsideABubbleFailsTheTest(t *testing.T) {
	t.Parallel()
	f := &fatal{TB: t}
	defer func() {
		if recover(); !f.said {
			t.Error("its hours would take hours, and nobody said so")
		}
	}()
	rlocktest.OpenVirtual(f)
}
