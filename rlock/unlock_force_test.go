package rlock

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The forced unlock's script has to be loaded first. So it also deletes a grant to an acquire that was sent later.
func TestForcedUnlockThatIsLoadedFirstEndsWhatCameBetween(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock("orders")
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for i := range rounds {
		forgetAllButLock(t, s)
		var h *Hold
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := l.ForceUnlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			busy(rand.N(400 * time.Microsecond))
			h = lockOf(t, l)
		})
		both.Wait()
		// The hold would also end by a grant to another owner of this client, so the server is asked.
		locked, err := l.IsLocked(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !locked && h.Err() == nil {
			t.Fatalf("round %d: the key is gone, and the hold is valid", i)
		}
		_ = h.Unlock(t.Context()) // it may be lost
	}
}

func TestForceUnlockBesideClose(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for range 20 {
		c := open(t, s)
		l := c.NewLock("orders")
		stop := make(chan struct{})
		var forced atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					if _, err := l.ForceUnlock(t.Context()); err != nil && !errors.Is(err, ErrClosed) {
						t.Error(err)
						return
					}
					forced.Add(1)
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		becomes(t, "some ran", func() bool { return forced.Load() > 4 })
		c.Close()
		close(stop)
		all.Wait()
	}
}

// The hold's own Unlock, or anybody's DEL, may delete the key before the command runs. ForceUnlock ended the hold
// all the same.
func TestForceUnlockThatEndedAHoldReportsTrue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	l := c.NewLock("orders")
	h := lockOf(t, l)
	if _, err := conn.Do("DEL", "orders"); err != nil {
		t.Fatal(err)
	}
	if forced, err := l.ForceUnlock(t.Context()); !forced || err != nil {
		t.Errorf("forced %v, %v; the hold: %v", forced, err, h.Err())
	}
	if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
		t.Error(err)
	}
	if forced, err := l.ForceUnlock(t.Context()); forced || err != nil {
		t.Errorf("again: forced %v, %v", forced, err)
	}
}

// A plain lock's ForceUnlock deletes the key whatever is in it, so it ends the holds of every kind.
func TestForceUnlockEndsTheHoldsOfEachKindOfTheName(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	for kind, l := range map[string]*Lock{
		"read": c.NewReadWriteLock("doc").ReadLock(), "write": c.NewReadWriteLock("doc").WriteLock(),
		"fair": c.NewFairLock("doc"), "fenced": c.NewFencedLock("doc"),
	} {
		h := lockOf(t, l)
		if forced, err := c.NewLock("doc").ForceUnlock(t.Context()); !forced || err != nil {
			t.Fatal(kind, forced, err)
		}
		if !errors.Is(h.Err(), ErrLeaseLost) {
			t.Errorf("the %s hold: %v", kind, h.Err())
		}
		h = lockOf(t, l) // nothing of the former is left
		mustUnlock(t, h)
	}
}
