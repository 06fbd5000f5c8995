package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// TestTwinsLoseTheLock takes the lock from a twin while it prints, and keeps it until the twin has noticed. Neither books
// what it printed without the lock nor releases the stranger's; Go stops to print, Java cannot know.
func TestTwinsLoseTheLock(t *testing.T) {
	for _, of := range []struct {
		what, side, then string // then is how the printing ends
		start            func(*testing.T, night) *twin
		printing         time.Duration
	}{
		{"go", "go", "stopped", goTwin, 5 * time.Second},
		{"go, printed before it is told", "go", "out", goTwin, 500 * time.Millisecond}, // a hold is a second old before
		{"java", "java", "out", javaTwin, 3 * time.Second},
	} {
		t.Run(of.what, func(t *testing.T) {
			t.Parallel()
			server := redisserver.Local(t)
			b := books{t, redisserver.Dial(t, server)}
			n := night{
				url: server.URL(), watchdog: 3 * time.Second, printing: of.printing,
				mailing: 10 * time.Millisecond, invoices: 1,
			}
			client, err := rlock.Open(t.Context(), server.URL())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			w := of.start(t, n)
			w.begin()

			in := b.await(of.side, "in")
			lock := client.NewLock("invoices")
			if forced, err := lock.ForceUnlock(t.Context()); !forced || err != nil {
				t.Fatalf("forced: %v, %v", forced, err)
			}
			stranger, err := lock.TryLock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b.await(of.side, "lost")
			if err := stranger.Unlock(t.Context()); err != nil {
				t.Errorf("the stranger's hold: %v", err)
			}
			w.finish()

			// The first one ended so, the second one well.
			ended := b.await(of.side, of.then)
			took := ended.at - in.at
			t.Logf("%s: %s after %v", of.side, of.then, took)
			if ended.number != 1 || of.then == "stopped" != (took < n.printing) {
				t.Errorf("%d was %s after %v", ended.number, of.then, took)
			}
			if booked := b.numbers("ledger:booked"); !slices.Equal(booked, []int64{2}) {
				t.Errorf("booked %v, want the second only", booked)
			}
		})
	}
}

// The README's settle returns what went wrong with the lock, though its work saw nothing of it.
func TestSettlementReturnsTheLoss(t *testing.T) {
	server := redisserver.Local(t)
	client, err := rlock.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn := redisserver.Dial(t, server)
	err = settle(t.Context(), client, func(context.Context) error {
		_, err := conn.Do("DEL", "invoices")
		return err
	})
	if !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("lost while it worked, and it returned %v", err)
	}
}
