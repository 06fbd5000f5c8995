package seeds

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// The explanation of Redisson's hash tells four scenes of one lock, with names. This test plays them with our lock.
func TestFourScenesOfRedissonsHash(t *testing.T) {
	r := newRig(t)
	const (
		key     = "order_lock:1001"
		field   = "550e8400-e29b-41d4-a716-446655440000:31"
		channel = "redisson_lock__channel:{order_lock:1001}"
	)
	listener := redis.PubSubConn{Conn: redisserver.Dial(t, r.Server)}
	if err := listener.Subscribe(channel); err != nil {
		t.Fatal(err)
	}
	state := func(count int) {
		t.Helper()
		hash, err := redis.IntMap(r.Do("HGETALL", key), nil)
		if err != nil || len(hash) != 1 || hash[field] != count {
			t.Errorf("the hash is %v, %v; want a count of %d", hash, err, count)
		}
		if d := r.PTTL(key); d < 29*time.Second || d > 30*time.Second {
			t.Errorf("it has %v to live", d)
		}
		r.Do("PEXPIRE", key, 10000) // so that the next scene shows that it sets a new lease
	}
	l := r.c.NewLock(key)
	thread31 := rlock.As(r.owner(field))

	first := r.Lock(l, thread31)
	state(1)
	second := r.Lock(l, thread31)
	state(2)
	r.Unlock(second)
	state(1)
	r.Unlock(first)
	if n := r.Number("EXISTS", key); n != 0 {
		t.Error("the key is still there")
	}
	for {
		switch m := listener.ReceiveWithTimeout(patience).(type) {
		case redis.Message:
			if m.Channel != channel || string(m.Data) != "0" {
				t.Errorf("%s: %q", m.Channel, m.Data)
			}
			return
		case error:
			t.Fatal(m)
		}
	}
}

// The script of Redisson 3.12.3 to 3.18, which one text quotes, and ours see the same state.
func TestOlderRedissonScriptSharesTheState(t *testing.T) {
	r := newRig(t)
	one := []string{name}
	l := r.c.NewLock(name)
	r.replies(nil, "redisson312_lock", one, 60000, thread)
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("ours, where the older one holds: %v", err)
	}
	// The same owner may enter from here too; the server counts both holds.
	h := r.Lock(l, rlock.As(r.owner(thread)))
	if n := r.Number("HGET", name, thread); n != 2 {
		t.Errorf("%d holds", n)
	}
	r.Unlock(h)
	if ttl, err := redis.Int(r.run("redisson312_lock", one, 60000, other)); ttl <= 0 || err != nil {
		t.Errorf("a stranger: %d, %v", ttl, err)
	}
}
