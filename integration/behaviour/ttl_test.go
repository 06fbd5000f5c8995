package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestRemainingTTL(t *testing.T) {
	r := start(t)
	c := r.open()
	t.Run("of a fixed lease", func(t *testing.T) {
		l := c.NewLock(r.name())
		h := r.Lock(l, rlock.Lease(time.Minute))
		ttl, err := l.RemainTTL(t.Context())
		if ttl <= 50*time.Second || ttl > time.Minute || err != nil {
			t.Errorf("%v, %v", ttl, err)
		}
		r.Unlock(h)
	})
	t.Run("of a lock that the watchdog keeps is its timeout", func(t *testing.T) {
		l := r.open(rlock.WithWatchdogTimeout(40 * time.Second)).NewLock(r.name())
		h := r.Lock(l)
		ttl, err := l.RemainTTL(t.Context())
		if ttl <= 30*time.Second || ttl > 40*time.Second || err != nil {
			t.Errorf("%v, %v", ttl, err)
		}
		r.Unlock(h)
	})
	t.Run("of a free lock is ErrNotLocked", func(t *testing.T) {
		l := c.NewLock(r.name())
		_, err := l.RemainTTL(t.Context())
		wants(t, err, rlock.ErrNotLocked, l.Name())
		h := r.Lock(l)
		r.Unlock(h)
		_, err = l.RemainTTL(t.Context())
		wants(t, err, rlock.ErrNotLocked)
	})
	t.Run("of a key that never expires is -1", func(t *testing.T) {
		l := c.NewLock(r.name())
		r.Do("HSET", l.Name(), c.NewOwner(), 1)
		defer r.Do("DEL", l.Name())
		if ttl, err := l.RemainTTL(t.Context()); ttl != -1 || err != nil {
			t.Errorf("%d, %v", ttl, err)
		}
	})
}
