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

// Java's multi-lock of a group is a hash under the group's name. By no kind of lock is it deleted.
func TestForceUnlockRefusesAGroup(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := open(t, s), s.Dial(t)
	const value, of = "qgEodwQI5mFesj19Jg1v8Q", "50cb2e4b-b55b-4456-821f-956223b8c99b:1"
	if _, err := conn.Do("HSET", "group", value, of, value+":"+of+":expire_time", "9999999999999", value+":"+of+":lock_count", 1); err != nil {
		t.Fatal(err)
	}
	both := c.NewReadWriteLock("group")
	for kind, l := range map[string]*Lock{
		"plain": c.NewLock("group"), "spin": c.NewSpinLock("group"), "fair": c.NewFairLock("group"), "fenced": c.NewFencedLock("group"),
		"non-reentrant": c.NewNonReentrantLock("group"), "read": both.ReadLock(), "write": both.WriteLock(),
	} {
		freed, err := l.ForceUnlock(t.Context())
		if kind == "read" || kind == "write" { // Java says too that nobody reads or writes
			if freed || err != nil {
				t.Errorf("%s: %v, %v", kind, freed, err)
			}
		} else if want := `rlock: force "group": the key is a hash that is no lock of this kind (the multi-lock of a group in Java, which was left alone)`; freed || !errors.Is(err, ErrRefused) || err.Error() != want {
			t.Errorf("%s: %v, %v", kind, freed, err)
		}
	}
	if n, err := conn.Do("HLEN", "group"); n != int64(3) || err != nil {
		t.Errorf("%v fields are left, %v", n, err)
	}
}
