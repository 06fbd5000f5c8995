package seeds

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// The lock that keeps flag and count in a hash and pushes "ok" to a list when it is free; waiters sit in BLPOP.

const list = "orders:list"

// pushIfEmpty is what tryUnlock of the text does once its script has answered that the lock is free.
func (r *rig) pushIfEmpty() {
	r.Helper()
	if r.Number("LLEN", list) == 0 {
		r.Do("RPUSH", list, "ok")
	}
}

// A lock that expires pushes nothing, so a waiter sits out all of its wait, and is told "not acquired" by a free lock.
// Nor does a holder that dies between its script and its RPUSH. Here the wait ends with the lease.
func TestListIsSilentWhenTheLockExpires(t *testing.T) {
	r := newRig(t)
	r.replies(1, "list_lock", []string{"list", "u1", "3"})
	r.replies(0, "list_lock", []string{"list", "u2", "3"})
	waiting := time.Now()
	popped, err := redisserver.Dial(t, r.Server).Do("BLPOP", list, 4)
	if popped != nil || err != nil {
		t.Fatalf("%v, %v", popped, err)
	}
	if waited := time.Since(waiting); waited < 3900*time.Millisecond {
		t.Errorf("BLPOP ended after %v", waited)
	}
	if r.Number("EXISTS", "list") != 0 {
		t.Error("the lock is still there")
	}

	gone := r.open()
	r.Lock(gone.NewLock(name), rlock.Lease(3*time.Second))
	waiter := testbed.Enter(t.Context(), r.c.NewLock(name))
	if err := gone.Close(); err != nil { // nobody will release it
		t.Fatal(err)
	}
	began := time.Now()
	e := r.Entered(waiter)
	if waited := e.At.Sub(began); waited > 10*time.Second {
		t.Errorf("entered after %v, the lease was three seconds", waited)
	}
	r.Unlock(e.Hold)
}

// A release that nobody waits for leaves its "ok" in the list, without a TTL, for ever. Here nothing is left.
func TestListIsNeverDeleted(t *testing.T) {
	r := newRig(t)
	r.replies(1, "list_lock", []string{"list", "u1", "60"})
	r.replies(1, "list_unlock", []string{"list", "u1"})
	r.pushIfEmpty()
	if r.Number("LLEN", list) != 1 || r.PTTL(list) != -time.Millisecond {
		t.Errorf("the list has %d entries and %v to live", r.Number("LLEN", list), r.PTTL(list))
	}
	r.Do("DEL", list)

	h := r.Lock(r.c.NewLock(name))
	waiter := testbed.Enter(t.Context(), r.c.NewLock(name))
	r.Becomes("a waiter listens", func() bool { return len(r.Channels()) == 1 })
	r.Unlock(h)
	r.Unlock(r.Entered(waiter).Hold)
	r.Becomes("no key and no channel is left", func() bool {
		return r.Number("DBSIZE") == 0 && len(r.Channels()) == 0
	})
}

// Its codes and ours: 1 and 0 of the lock, 2, 1 and 0 of the unlock.
func TestListCodesBesideErrors(t *testing.T) {
	r := newRig(t)
	r.replies(1, "list_lock", []string{"list", "u1", "60"}) // acquired
	r.replies(1, "list_lock", []string{"list", "u1", "60"}) // again
	r.replies(0, "list_lock", []string{"list", "u2", "60"}) // another's
	r.replies(2, "list_unlock", []string{"list", "u1"})     // one of two
	r.replies(0, "list_unlock", []string{"list", "u2"})     // another's
	r.replies(1, "list_unlock", []string{"list", "u1"})     // the last

	l := r.c.NewLock(name)
	outer := r.Lock(l)
	inner := r.Lock(l, rlock.As(outer.Owner()))
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("another's lock: %v", err)
	}
	r.Unlock(inner)
	if held, err := l.IsHeldBy(t.Context(), outer.Owner()); !held || err != nil {
		t.Errorf("after one of two: %v, %v", held, err)
	}
	if err := r.open().NewLock(name).UnlockAs(t.Context(), r.c.NewOwner()); !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("another's unlock: %v", err)
	}
	r.Unlock(outer)
	if locked, err := l.IsLocked(t.Context()); locked || err != nil {
		t.Errorf("after the last: %v, %v", locked, err)
	}
}
