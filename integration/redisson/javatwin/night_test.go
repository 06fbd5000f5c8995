package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// TestTwinsShareANight runs both programs at once. Their log must show that never two were inside, that no number was taken
// twice, that both got a share, and that each settled alone. Package interop shows how each wakes the other.
func TestTwinsShareANight(t *testing.T) {
	server := redisserver.Local(t)
	b := books{t, redisserver.Dial(t, server)}
	n := night{
		url: server.URL(), watchdog: 30 * time.Second, printing: 25 * time.Millisecond, mailing: 15 * time.Millisecond,
		invoices: 120, credits: 20,
	}
	twins := []*twin{goTwin(t, n), javaTwin(t, n)}
	for _, w := range twins {
		w.begin()
	}
	for _, w := range twins {
		w.finish()
	}

	booked, taken := b.numbers("ledger:booked"), b.numbers("ledger:booked")
	printed, settled := map[string]int{}, map[string]int{}
	var inside entry // the side that prints or settles
	for _, e := range b.log() {
		switch e.event {
		case "in", "settling": // finds nobody inside, and is followed by its own end
			if inside.side != "" || e.found != "" {
				t.Fatalf("%v while inside was %v", e, inside)
			}
			inside = e
		case "out", "settled":
			if inside.side != e.side || inside.number != e.number {
				t.Fatalf("%v while inside was %v", e, inside)
			}
			inside = entry{}
			if e.event == "out" {
				printed[e.side]++
			} else {
				settled[e.side]++
			}
		case "busy", "lost", "stopped":
			t.Errorf("%v", e)
		case "credit":
			taken = append(taken, e.number)
		}
	}
	t.Logf("printed by one at a time: never were two inside; %v", printed)
	for _, side := range []string{"go", "java"} {
		if printed[side] < n.invoices/5 || settled[side] != 1 {
			t.Errorf("%s printed %d of %d, and settled %d times", side, printed[side], n.invoices, settled[side])
		}
	}
	// The counter, which was read and written back, lost no update.
	slices.Sort(taken)
	for i, number := range taken {
		if number != int64(i+1) {
			t.Fatalf("the numbers taken are %v", taken)
		}
	}
	if last := b.last(); last != int64(len(taken)) {
		t.Errorf("the counter says %d, %d numbers were taken", last, len(taken))
	}
	// The side at work when the last one is booked books one more.
	if len(booked) < n.invoices || len(booked) > n.invoices+1 || len(taken) != len(booked)+2*n.credits {
		t.Errorf("%d booked, %d taken, asked for %d and twice %d", len(booked), len(taken), n.invoices, n.credits)
	}
	left, err := b.conn.Do("EXISTS", "invoices")
	if err != nil || left != int64(0) {
		t.Errorf("the lock was left behind: %v, %v", left, err)
	}
}

// TestTwinsLoseTheLock takes the lock from a twin that prints, and keeps it until the twin notices. A twin neither books
// what it printed without the lock nor releases the other's hold. Go stops printing; Java cannot know.
func TestTwinsLoseTheLock(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		what, side, then string // then is how the printing ends
		start            func(*testing.T, night) *twin
		printing         time.Duration
	}{
		{"go", "go", "stopped", goTwin, 5 * time.Second},
		{"go, printed before it is told", "go", "out", goTwin, 500 * time.Millisecond}, // it learns of a loss once the hold is a second old
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
			client := testbed.Open(t, server.URL())
			w := of.start(t, n)
			w.begin()

			in := b.await(of.side, "in")
			lock := client.NewLock("invoices")
			if forced, err := lock.ForceUnlock(t.Context()); !forced || err != nil {
				t.Fatalf("forced: %v, %v", forced, err)
			}
			stranger, err := lock.TryLock(t.Context())
			testbed.Must(t, err)
			b.await(of.side, "lost")
			if err := stranger.Unlock(t.Context()); err != nil {
				t.Errorf("the stranger's hold: %v", err)
			}
			w.finish()

			// The first printing ended like this; the second was booked.
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

// TestSettlementReturnsTheLoss shows that the README's settle returns a loss that its work did not notice.
func TestSettlementReturnsTheLoss(t *testing.T) {
	server := redisserver.Local(t)
	client := testbed.Open(t, server.URL())
	conn := redisserver.Dial(t, server)
	err := settle(t.Context(), client, func(context.Context) error {
		_, err := conn.Do("DEL", "invoices")
		return err
	})
	if !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("lost while it worked, and it returned %v", err)
	}
}
