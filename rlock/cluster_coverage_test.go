package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// With cluster-require-full-coverage no the slots of other masters go on when one
// has gone and nobody takes its place. What waits for its slots, and what is
// renewed there, delays nobody else's.
func TestOtherSlotsGoOnWhenAMasterHasGone(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*redistest.Server){
		"it is dead":      (*redistest.Server).Kill,
		"it stands still": (*redistest.Server).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const (
				lease   = 3 * time.Second
				timeout = time.Second
			)
			s := topologytest.StartFronted(t, func(int) redistest.Front {
				return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
			}, 1, 1, 1)
			c := openCluster(t, s, rlock.WithWatchdogTimeout(lease), rlock.WithCommandTimeout(timeout))
			var dead, alive []*rlock.Hold
			for i := range 300 {
				h := held(t, c.NewLock(nameOf(i%3, i/3)))
				if i%3 == 0 {
					dead = append(dead, h)
				} else {
					alive = append(alive, h)
				}
			}
			trouble(s.Servers[0])
			began := time.Now()
			slowest, tried := time.Duration(0), 0
			least := lease
			told := make(chan error, 1)
			go func() {
				_, err := c.NewLock(nameOf(0, 200)).TryLock(context.Background())
				told <- err
			}()
			for ; time.Since(began) < 2*lease; time.Sleep(5 * time.Millisecond) {
				for _, h := range alive {
					if err := h.Err(); err != nil {
						t.Fatalf("%s of a server that lives, after %v: %v", h.Name(), time.Since(began), err)
					}
					least = min(least, time.Until(h.ValidUntil()))
				}
				sent := time.Now()
				h, err := c.NewLock(nameOf(1+tried%2, 200)).Lock(t.Context())
				if err == nil {
					err = h.Unlock(t.Context())
				}
				if err != nil {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				slowest = max(slowest, time.Since(sent))
				tried++
			}
			t.Logf("%d pairs at the other masters, the slowest took %v; their leases had %v left at least", tried, slowest.Round(time.Millisecond), least.Round(time.Millisecond))
			if slowest > timeout/2 {
				t.Errorf("a pair at another master took %v", slowest)
			}
			if least < lease/3 {
				t.Errorf("a lease at another master had %v left, of %v", least, lease)
			}
			for _, h := range dead {
				if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
					t.Errorf("%s of the server that has gone: %v", h.Name(), err)
				}
			}
			if err := <-told; err == nil || errors.Is(err, rlock.ErrLocked) {
				t.Errorf("TryLock there says %v", err)
			} else {
				t.Logf("TryLock there: %v", err)
			}
			sent := time.Now()
			_, err := c.NewLock(nameOf(0, 201)).TryLockFor(t.Context(), 2*timeout)
			if d := time.Since(sent); err == nil || errors.Is(err, rlock.ErrLocked) || d > 3*timeout {
				t.Errorf("TryLockFor there, after %v: %v", d, err)
			} else {
				t.Logf("TryLockFor there, after %v: %v", d.Round(time.Millisecond), err)
			}
			began = time.Now()
			err = dead[0].Unlock(t.Context())
			t.Logf("Unlock of a lost hold there, after %v: %v", time.Since(began).Round(time.Millisecond), err)
			if err == nil || time.Since(began) > 4*timeout {
				t.Errorf("Unlock there, after %v: %v", time.Since(began), err)
			}
		})
	}
}
