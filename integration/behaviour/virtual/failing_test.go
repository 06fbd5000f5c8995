package virtual_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// That a hold is in danger is told and logged once for each trouble, however often the client tries to renew, and before
// the hold is lost.
func TestFailingRenewalsOfAHoldAreToldOnceBeforeItIsLost(t *testing.T) {
	inBubble(t, func(r *rig) {
		var told []string // appended to by the client's goroutine for events, which is idle when the test reads
		var events []rlock.FailingEvent
		log := &lines{}
		c := r.open(rlock.WithLogger(slog.New(log)), rlock.WithObserver(rlock.Observer{
			Failing: func(s rlock.Subject, e rlock.FailingEvent) {
				told, events = append(told, fmt.Sprintf("%s %s fails: %v", s.Kind, s.Name, e.Err)), append(events, e)
			},
			Ended: func(s rlock.Subject, e rlock.HoldEvent) {
				told = append(told, fmt.Sprintf("%s %s ended: %s", s.Kind, s.Name, e.End))
			},
		}))
		renewed := must(c.NewFencedLock("renewed").Lock(context.Background()))(r)
		must(c.NewFencedLock("renewed").Lock(context.Background(), rlock.As(renewed.Owner())))(r) // shares the lease
		fixed := must(c.NewLock("fixed").Lock(context.Background(), rlock.Lease(time.Minute)))(r)

		r.pass(9 * time.Second)
		r.refuse("LOADING dataset")
		r.pass(8 * time.Second)
		r.refuse("")
		r.pass(8 * time.Second)
		want := []string{"fenced renewed fails: LOADING dataset", "fenced renewed fails: <nil>"}
		if !slices.Equal(told, want) {
			t.Fatalf("after a trouble: %q", told)
		}
		// The first renewal is sent after 10 s. It is tried again each second, and a fourth of it at random.
		if left := events[0].Left.Round(time.Second); left != 20*time.Second {
			t.Errorf("%v were left", left)
		}
		if e := events[1]; e.Lasted < 7*time.Second || e.Lasted > 9*time.Second || e.Left < 29*time.Second {
			t.Errorf("they failed for %v, and %v were left", e.Lasted, e.Left)
		}
		if n := log.of("lease not renewed"); n != 1 {
			t.Errorf("%d lines", n)
		}

		told = nil
		r.refuse("LOADING dataset")
		r.pass(30 * time.Second)
		want = []string{"fenced renewed fails: LOADING dataset", "fenced renewed ended: lost", "fenced renewed ended: lost"}
		if !slices.Equal(told, want) {
			t.Errorf("after the loss: %q", told)
		}
		if n := log.of("lease not renewed"); n != 2 {
			t.Errorf("%d lines", n)
		}
		if err := fixed.Err(); err != nil {
			t.Error(err)
		}
		r.refuse("")
	})
}
