package seeds

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// ReentrantDistributedLock: Redisson's lock script, and an unlock script that publishes nothing. Its owners are
// uuid:threadId, so what it keeps is a lock to us, and the other way round.

const (
	client = "6f1f4ac2-0b0c-4d5e-8a53-0c5b1b9d9a11"
	thread = client + ":31"
	other  = "0d9e3c55-7b39-4c5f-9a50-3d1c4b8f7e22:7"
)

func TestPrintedLockScriptIsOurs(t *testing.T) {
	r := newRig(t)
	if r.text("spin_lock") != luasrc.LockScript.Source {
		t.Error("the lock script has another text")
	}
	one := []string{name}
	l := r.c.NewLock(name)
	r.replies(nil, "spin_lock", one, 60000, thread)
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("ours, where the other holds: %v", err)
	}
	if n, err := l.HoldCount(t.Context(), r.owner(thread)); n != 1 || err != nil {
		t.Errorf("%d holds, %v", n, err)
	}
	if err := l.UnlockAs(t.Context(), r.owner(thread)); err != nil {
		t.Error(err)
	}
	h := r.Lock(l, rlock.Lease(time.Minute))
	ttl, err := redis.Int(r.run("spin_lock", one, 60000, thread))
	if err != nil || ttl < 50000 || ttl > 60000 {
		t.Errorf("the other, where ours holds: %d, %v", ttl, err)
	}
	r.Unlock(h)
}

// tries counts scripts and subscriptions since the last time.
func (r *rig) tries() int {
	r.Helper()
	calls := r.Calls()
	r.Do("CONFIG", "RESETSTAT")
	return calls["EVAL"] + calls["EVALSHA"] + calls["SUBSCRIBE"]
}

// Its wait is a loop around the script without a pause: as many commands as the connection can carry, from each waiter.
// Here a waiter tries, subscribes, tries again, and sleeps until it is told.
func TestSpinningCostsCommandsWaitingDoesNot(t *testing.T) {
	r := newRig(t)
	const least = 300 * time.Millisecond
	holder := r.Lock(r.c.NewLock(name), rlock.Lease(time.Minute))
	r.tries()
	spinner := redisserver.Dial(t, r.Server)
	began := time.Now()
	for n := 0; n < 100 || time.Since(began) < least; n++ {
		if ttl, err := spinner.Do("EVAL", r.text("spin_lock"), 1, name, 60000, thread); ttl == nil || err != nil {
			t.Fatalf("%v, %v", ttl, err)
		}
	}
	watched, spun := time.Since(began), r.tries()

	waiter := testbed.Enter(t.Context(), r.open().NewLock(name))
	r.Becomes("a waiter listens", func() bool { return len(r.Channels()) == 1 })
	<-time.After(watched) // as long as the other was watched; a waiter that spins would show
	waited := r.tries()
	if waited > 10 || spun < 5*waited {
		t.Errorf("%d commands of the spinner, %d of the waiter", spun, waited)
	}
	t.Logf("in %v: %d commands of the spinner, %d of the waiter", watched, spun, waited)
	r.Unlock(holder)
	r.Unlock(r.Entered(waiter).Hold)
}

// Nothing extends its lease. Work that takes longer goes on without the lock, others enter, and the unlock at the end is
// the first to say so. Here the watchdog extends, and a hold that was lost has told before.
func TestWorkOutlivesALeaseWithoutWatchdog(t *testing.T) {
	const lease = 4 * time.Second
	r := newRig(t, rlock.WithWatchdogTimeout(lease))
	one := []string{"spin"}
	r.replies(nil, "spin_lock", one, lease.Milliseconds(), thread)
	r.Becomes("another is inside", func() bool {
		got, err := r.run("spin_lock", one, 60000, other)
		return got == nil && err == nil
	})
	r.replies(nil, "spin_unlock", one, 30000, thread) // "not locked by current thread", only now

	l := r.c.NewLock(name)
	h := r.Lock(l)
	for end := time.Now().Add(lease * 5 / 4); time.Now().Before(end); {
		if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
			t.Fatalf("another, while the watchdog is there: %v", err)
		}
		<-time.After(lease / 10)
	}
	if err := h.Err(); err != nil {
		t.Errorf("still held: %v", err)
	}
	r.Unlock(h)

	fixed := r.Lock(l, rlock.Lease(lease))
	ctx, cancel := fixed.Context(t.Context())
	defer cancel()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Fatal("nobody was told of the end of the lease")
	}
	if err := fixed.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
		t.Errorf("after the lease: %v", err)
	}
}

// A partial unlock passes 30 s whatever was asked for: here, two minutes.
func TestPartialUnlockForgetsTheLeaseThatWasAskedFor(t *testing.T) {
	r := newRig(t)
	one := []string{"spin"}
	r.replies(nil, "spin_lock", one, 120000, thread)
	r.replies(nil, "spin_lock", one, 120000, thread)
	r.replies(0, "spin_unlock", one, 30000, thread)
	r.lives("spin", time.Millisecond, 30*time.Second)

	l := r.c.NewLock(name)
	outer := r.Lock(l, rlock.Lease(2*time.Minute))
	r.Unlock(r.Lock(l, rlock.Lease(2*time.Minute), rlock.As(outer.Owner())))
	r.lives(name, 100*time.Second, 2*time.Minute)
	r.Unlock(outer)
}

// Its codes and ours: nil and a TTL of the lock, 1, 0 and nil of the unlock, which it makes an exception.
func TestSpinCodesBesideErrors(t *testing.T) {
	r := newRig(t)
	one := []string{"spin"}
	r.replies(nil, "spin_lock", one, 60000, thread)
	r.replies(nil, "spin_lock", one, 60000, thread)
	if ttl, err := redis.Int(r.run("spin_lock", one, 60000, other)); ttl <= 0 || err != nil {
		t.Errorf("another's lock: %d, %v", ttl, err)
	}
	r.replies(0, "spin_unlock", one, 30000, thread)
	r.replies(nil, "spin_unlock", one, 30000, other)
	r.replies(1, "spin_unlock", one, 30000, thread)

	l := r.c.NewLock(name)
	if _, err := l.RemainTTL(t.Context()); !errors.Is(err, rlock.ErrNotLocked) {
		t.Errorf("the TTL of a free lock: %v", err)
	}
	h := r.Lock(l)
	if ttl, err := l.RemainTTL(t.Context()); ttl <= 0 || err != nil {
		t.Errorf("the TTL: %v, %v", ttl, err)
	}
	// The exception's words are the error's.
	want := fmt.Sprintf("attempt to unlock lock, not locked by current thread by node id: %s thread-id: %s", client, "31")
	err := l.UnlockAs(t.Context(), r.owner(thread))
	if !errors.Is(err, rlock.ErrNotHeld) || !strings.Contains(err.Error(), want) {
		t.Errorf("a stranger's unlock: %v", err)
	}
	r.Unlock(h)
}
