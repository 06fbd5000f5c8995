package seeds

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// The text on locks that are not re-entrant, and the hash that is to be their remedy.

// A SETNX lock refuses its own holder. So does ours, unless As says that it is the holder.
func TestLockBySETNXRefusesItsHolder(t *testing.T) {
	r := newRig(t)
	if first, second := r.Number("SETNX", "plain", "t1"), r.Number("SETNX", "plain", "t1"); first != 1 || second != 0 {
		t.Errorf("%d, %d", first, second)
	}
	l := r.c.NewLock(name)
	outer := r.Lock(l)
	r.Unlock(r.Lock(l, rlock.As(outer.Owner())))
	r.Unlock(outer)
}

// The script forgets to answer a re-entry: it counts, and says what it says to a stranger. Who believes it never gives
// that hold up, and the lock stays.
func TestReentryIsAnsweredLikeARefusal(t *testing.T) {
	r := newRig(t)
	one := []string{"remedy"}
	r.replies(1, "remedy_lock", one, "t1", "60")
	r.replies(nil, "remedy_lock", one, "t1", "60") // acquired again
	r.replies(nil, "remedy_lock", one, "t2", "60") // refused
	if n := r.Number("HGET", "remedy", "t1"); n != 2 {
		t.Errorf("%d holds", n)
	}
	r.replies(nil, "remedy_unlock", one, "t1", "60")
	if r.Number("EXISTS", "remedy") != 1 {
		t.Error("the hold that was not answered is gone")
	}

	l := r.c.NewLock(name)
	outer := r.Lock(l)
	inner, err := l.TryLock(t.Context(), rlock.As(outer.Owner()))
	if inner == nil || err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("a stranger: %v", err)
	}
	r.Unlock(inner)
	r.Unlock(outer)
	if n := r.Number("EXISTS", name); n != 0 {
		t.Error("the lock stays")
	}
}

// A partial unlock needs the lease once more. Without it the script stops half way: the count is one less, the caller
// gets an error, and may well try again. Here each unlock brings what the holds that are left need.
func TestPartialUnlockWithoutALeaseStopsHalfWay(t *testing.T) {
	r := newRig(t)
	one := []string{"remedy"}
	r.replies(1, "remedy_lock", one, "t1", "60")
	r.replies(nil, "remedy_lock", one, "t1", "60")
	if _, err := r.run("remedy_unlock", one, "t1"); err == nil {
		t.Error("no error")
	}
	if n := r.Number("HGET", "remedy", "t1"); n != 1 {
		t.Errorf("%d holds", n)
	}

	l := r.c.NewLock(name)
	owner := r.Lock(l).Owner()
	r.Lock(l, rlock.As(owner))
	// Another process gives one up, which knows nothing of leases.
	if err := r.open().NewLock(name).UnlockAs(t.Context(), owner); err != nil {
		t.Error(err)
	}
	r.lives(name, 20*time.Second, 30*time.Second)
	if n := r.Number("HGET", name, owner.String()); n != 1 {
		t.Errorf("%d holds", n)
	}
}

// The script of Redisson 3.12.3 to 3.18 that the text ends with, and ours, see one state.
func TestOlderRedissonScriptSharesTheState(t *testing.T) {
	r := newRig(t)
	one := []string{name}
	l := r.c.NewLock(name)
	r.replies(nil, "redisson312_lock", one, 60000, thread)
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("ours, where the older one holds: %v", err)
	}
	// The same owner may enter from here, and both count.
	h := r.Lock(l, rlock.As(r.owner(thread)))
	if n := r.Number("HGET", name, thread); n != 2 {
		t.Errorf("%d holds", n)
	}
	r.Unlock(h)
	if ttl, err := redis.Int(r.run("redisson312_lock", one, 60000, other)); ttl <= 0 || err != nil {
		t.Errorf("a stranger: %d, %v", ttl, err)
	}
}
