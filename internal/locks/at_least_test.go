package locks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A call that fails leaves no AtLeast time with its owner, and takes none away.
func TestNestedGrantThatIsGivenBackChangesNoAtLeast(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := open(t, s), s.Dial(t)
	for name, row := range map[string]struct{ outer, inner time.Duration }{
		"asked by the call that fails": {0, time.Hour},
		"asked by the outer hold":      {time.Hour, 0},
	} {
		for _, outerFirst := range []bool{false, true} {
			l := c.NewLock(kind.Reentrant, name, name)
			outer := acquireAs(t, &l, Terms{AtLeast: row.outer})
			w := NewWaiter(&l)
			w.Terms = Terms{Owner: outer.Owner(), As: true, AtLeast: row.inner}
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			redistest.Becomes(t, "it is granted", func() bool { return w.snapshot().ended })
			if outerFirst {
				mustUnlock(t, outer)
			}
			if _, err := w.Result(t.Context(), context.Canceled); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if !outerFirst {
				mustUnlock(t, outer)
			}
			if row.outer == 0 {
				becomes(t, conn, 0, "EXISTS", name)
				continue
			}
			becomes(t, conn, 0, "HEXISTS", name, outer.OwnerText())
			if left := do(t, conn, "PTTL", name).(int64); left < 50*60*1000 {
				t.Errorf("%s, first %v: it lives for %d ms", name, outerFirst, left)
			}
			do(t, conn, "DEL", name)
		}
	}
}

// The outer hold is lost while a nested attempt is open, and with it what it had asked for.
func TestAtLeastEndsWithALoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := open(t, s), s.Dial(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	outer := acquireAs(t, &l, Terms{AtLeast: time.Hour})
	do(t, conn, "DEL", "orders")
	s.Pause()
	defer s.Resume()
	w := NewWaiter(&l)
	w.Terms = Terms{Owner: outer.Owner(), As: true}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "its attempt is written", func() bool { return w.snapshot().written })
	func() {
		defer l.shard.enter(mustNotBlock).leave()
		outer.state.lose(nil, errExpired)
	}()
	outer.KeepTaken(time.Hour) // as its call would, if it had returned only now
	if _, err := w.Result(t.Context(), context.Canceled); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.Resume()
	redistest.Becomes(t, "the grant is given back", func() bool { return c.work.Count() == 0 })
	becomes(t, conn, 0, "EXISTS", "orders")
}

// A server that refuses a release for a while runs it later. The lock stays taken until AtLeast is over, no longer.
func TestReleaseThatRunsLaterLeavesTheLockForLess(t *testing.T) {
	t.Parallel()
	const atLeast = 10 * time.Minute
	for name, row := range map[string]struct {
		shared bool
		after  time.Duration
	}{
		"within the time":           {false, 4 * time.Minute},
		"within the time, by latch": {true, 4 * time.Minute},
		"when it is over":           {false, 15 * time.Minute},
		"when it is over, by latch": {true, 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			conn, now := s.Dial(t), &ahead{Clock: clock.System()}
			o := config()
			o.Timeout, o.Watchdog, o.Clock = 10*time.Minute, time.Hour, now
			c := openWith(t, s, o)
			l := c.NewLock(kind.Reentrant, "orders", "orders")
			h := acquireAs(t, &l, Terms{AtLeast: atLeast})
			if row.shared {
				_ = h.Owner().Share()
			}
			refusedTwice := func() {
				t.Helper()
				do(t, conn, "CONFIG", "RESETSTAT")
				redistest.Becomes(t, "two sends are refused", func() bool {
					_, count, _ := strings.Cut(string(do(t, conn, "INFO", "errorstats").([]byte)), "errorstat_NOREPLICAS:count=")
					return count != "" && !strings.HasPrefix(count, "1\r")
				})
			}
			do(t, conn, "CONFIG", "SET", "min-replicas-to-write", 1)
			released := make(chan error, 1)
			go func() { released <- Unlock(context.Background(), h) }()
			refusedTwice()
			now.by.Store(int64(row.after))
			refusedTwice() // the second of these was made after the leap
			do(t, conn, "CONFIG", "SET", "min-replicas-to-write", 0)
			if err := <-released; err != nil {
				t.Fatal(err)
			}
			left := time.Duration(do(t, conn, "PTTL", "orders").(int64)) * time.Millisecond
			if most := atLeast - row.after; left > max(most, 0) || left < most-time.Minute {
				t.Errorf("it lives for %v, want %v", left, most)
			}
		})
	}
}
