package seeds

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The lock of two scripts, lock.lua and unlock.lua, with a class RedisLock whose tryLock makes the owner: a fresh UUID
// and the thread's id.

// Leases are passed to EXPIRE, in seconds. Half a second is refused there, but by then the lock is made, without a lease
// and so for ever; no second at all deletes it, and the answer is "acquired". So it is with the remedy; the lock with the
// list writes its count after that, and leaves a key without an owner for ever.
func TestLeasesInSecondsCantBeShort(t *testing.T) {
	r := newRig(t)
	for _, kind := range []string{"class", "remedy", "list"} {
		call := func(key, owner, lease string) (any, error) {
			if kind == "list" {
				return r.run("list_lock", []string{key, owner, lease})
			}
			return r.run(kind+"_lock", []string{key}, owner, lease)
		}
		halves, noughts := kind+" halves", kind+" noughts"
		if _, err := call(halves, "u1", "0.5"); err == nil {
			t.Errorf("%s: EXPIRE took half a second", kind)
		}
		if d := r.PTTL(halves); d != -time.Millisecond {
			t.Errorf("%s: the lock has %v to live, want none", kind, d)
		}
		for _, owner := range []string{"u1", "u2"} { // a second owner, at once
			if reply, err := call(noughts, owner, "0"); reply != int64(1) || err != nil {
				t.Errorf("%s: %v, %v", kind, reply, err)
			}
		}
		if there := r.Number("EXISTS", noughts); there == 1 != (kind == "list") {
			t.Errorf("%s: %d keys are left of a lock without a lease", kind, there)
		}
	}

	r.Lock(r.c.NewLock(name), rlock.Lease(10*time.Second))
	r.lives(name, time.Millisecond, 10*time.Second)
	for _, lease := range []time.Duration{0, time.Microsecond, -time.Second} {
		if _, err := r.c.NewLock("none").TryLock(t.Context(), rlock.Lease(lease)); !errors.Is(err, rlock.ErrInvalidOption) {
			t.Errorf("a lease of %v: %v", lease, err)
		}
	}
	if n := r.Number("EXISTS", "none"); n != 0 {
		t.Error("a lease that was refused left a key")
	}
}

// Re-entering sets the lease anew, and giving up the inner hold leaves it as it is: the outer holder, who asked for a
// minute, is left with what the inner one asked for. The lock with the list does the same.
func TestPartialUnlockLosesTheOuterLease(t *testing.T) {
	r := newRig(t)
	one := []string{"class"}
	r.replies(1, "class_lock", one, "u1", "60")
	r.replies(1, "class_lock", one, "u1", "10")
	r.replies(nil, "class_unlock", one, "u1")
	r.lives("class", time.Millisecond, 10*time.Second)

	r.replies(1, "list_lock", []string{"list", "u1", "60"})
	r.replies(1, "list_lock", []string{"list", "u1", "10"})
	r.replies(2, "list_unlock", []string{"list", "u1"})
	r.lives("list", time.Millisecond, 10*time.Second)

	l := r.c.NewLock(name)
	outer := r.Lock(l, rlock.Lease(time.Minute))
	inner := r.Lock(l, rlock.Lease(10*time.Second), rlock.As(outer.Owner()))
	r.lives(name, 50*time.Second, time.Minute)
	r.Unlock(inner)
	r.lives(name, 50*time.Second, time.Minute)
	r.Unlock(outer)
}

// Whatever became of an unlock, its script answers nil, and the class looks at no answer: the last one, one of two, one
// by a stranger, one of a lock that expired. The remedy's script is the same in this.
func TestUnlockThatNeverTells(t *testing.T) {
	r := newRig(t)
	for _, kind := range []string{"class", "remedy"} {
		one := []string{kind}
		r.replies(1, kind+"_lock", one, "u1", "60")
		_, err := r.run(kind+"_lock", one, "u1", "60")
		if err != nil {
			t.Fatal(err)
		}
		r.replies(nil, kind+"_unlock", one, "u2", "60") // a stranger
		r.replies(nil, kind+"_unlock", one, "u1", "60") // one of two
		r.replies(nil, kind+"_unlock", one, "u1", "60") // the last
		r.replies(nil, kind+"_unlock", one, "u1", "60") // there is none
	}

	l := r.c.NewLock(name)
	outer := r.Lock(l)
	inner := r.Lock(l, rlock.As(outer.Owner()))
	if err := r.open().NewLock(name).UnlockAs(t.Context(), r.c.NewOwner()); !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("a stranger's unlock: %v", err)
	}
	r.Unlock(inner)
	if n, err := l.HoldCount(t.Context(), outer.Owner()); n != 1 || err != nil {
		t.Errorf("%d holds are left, %v", n, err)
	}
	r.Unlock(outer)
	if err := outer.Unlock(t.Context()); !errors.Is(err, rlock.ErrReleased) {
		t.Errorf("a second unlock: %v", err)
	}
	gone := r.Lock(l)
	r.Do("DEL", name)
	if err := gone.Unlock(t.Context()); !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("the unlock of a lock that is gone: %v", err)
	}
}

// The class makes a new UUID in each call, so one thread's second call is a stranger's: what was to be a re-entrant lock
// refuses its own holder. Here an acquisition is a stranger too, unless As says who it is.
func TestFreshOwnerForEachCallCantReenter(t *testing.T) {
	r := newRig(t)
	const thread = "31"
	r.replies(1, "class_lock", []string{"class"}, "6f1f4ac2-0b0c-4d5e-8a53-0c5b1b9d9a11"+thread, "60")
	r.replies(0, "class_lock", []string{"class"}, "0d9e3c55-7b39-4c5f-9a50-3d1c4b8f7e22"+thread, "60")

	l := r.c.NewLock(name)
	outer := r.Lock(l)
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("another acquisition: %v", err)
	}
	inner := r.Lock(l, rlock.As(outer.Owner()))
	r.Unlock(inner)
	r.Unlock(outer)
}
