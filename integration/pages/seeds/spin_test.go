package seeds

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// ReentrantDistributedLock has Redisson's lock script and an unlock script that publishes nothing. Its owners are
// uuid:threadId, so its state is a lock for this library, and the other way round.

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
