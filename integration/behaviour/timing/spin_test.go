package timing

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// tries returns the times of the attempts to acquire.
func tries(lines []monitor.Line) (at []time.Time) {
	for _, l := range lines {
		if l.Is("EVALSHA") && l.Args[1] == luasrc.LockScript.SHA1 {
			at = append(at, l.At)
		}
	}
	return at
}

func TestSpinningWaiterPausesLongerAndLonger(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		b := open(t, s)
		conn := s.Dial(t)
		for _, args := range [][]any{{"HSET", "orders", "2b1a6f0e-0000-4000-8000-000000000000:1", 1}, {"PEXPIRE", "orders", 60000}} {
			if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
				t.Fatal(err)
			}
		}
		tap := s.tap()
		_, err := b.NewSpinLock("orders").TryLockFor(t.Context(), 2500*time.Millisecond)
		if !errors.Is(err, rlock.ErrLocked) {
			t.Fatal(err)
		}
		lines := tap.Mark()
		at := tries(lines)
		// Until the pauses are at their longest they add up to between 127 ms and 255 ms.
		if len(at) < 8 || len(at) > 8+2500/64 {
			t.Fatalf("%d tries in 2.5 s", len(at))
		}
		for i := 1; i < len(at); i++ {
			least, _ := kind.Spin.Pause(i, kind.Grant{})
			// These times are the server's, not the timer's: a try that arrived late makes the next pause look short.
			if gap := at[i].Sub(at[i-1]); gap < least-least/4-time.Millisecond {
				t.Errorf("try %d came after %v, at the least %v were to pass", i+1, gap, least)
			}
		}
		if last := at[len(at)-1].Sub(at[len(at)-3]); last < 96*time.Millisecond {
			t.Errorf("the last two pauses took %v together", last)
		}
	})
}

func TestManySpinningWaitersTryOneAtATime(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		l := b.NewSpinLock("orders")
		h := lockOf(t, a.NewSpinLock("orders"), rlock.Lease(time.Minute))
		const many = 100
		var wg sync.WaitGroup
		for range many {
			wg.Go(func() { mustUnlock(t, lockOf(t, l)) })
		}
		awaitQueued(t, b, many)
		tap, began, n := s.tap(), time.Now(), 0
		becomes(t, "some are tried in half a second", func() bool {
			n += len(tries(tap.Mark()))
			return n > 0 && time.Since(began) > 500*time.Millisecond
		})
		// A single waiter tries up to 8 times, and then every 64 to 128 ms.
		if took := time.Since(began); n > 8+int(took/(64*time.Millisecond))+1 {
			t.Errorf("%d tries of %d waiters in %v", n, many, took)
		}
		mustUnlock(t, h)
		wg.Wait()
	})
}
