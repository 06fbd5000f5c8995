package rlock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

func TestInfoTellsTheHolder(t *testing.T) {
	s := redistest.Start(t)
	c, other := openWith(t, s.URL()), openWith(t, s.URL())
	for kind, handle := range map[string]func(*rlock.Client, string) *rlock.Lock{
		"a plain lock": (*rlock.Client).NewLock,
		"a spin lock":  (*rlock.Client).NewSpinLock,
	} {
		t.Run(kind, func(t *testing.T) {
			l := handle(c, kind)
			if i, err := l.Info(t.Context()); !errors.Is(err, rlock.ErrNotLocked) || i != (rlock.Info{}) {
				t.Errorf("of a free lock: %+v, %v", i, err)
			}
			before := time.Now()
			h, err := l.Lock(t.Context(), rlock.Lease(time.Hour))
			after := time.Now()
			if err != nil {
				t.Fatal(err)
			}
			again, err := l.Lock(t.Context(), rlock.As(h.Owner()))
			if err != nil {
				t.Fatal(err)
			}
			i, err := l.Info(t.Context())
			if err != nil || i.Owner != h.Owner() || i.Count != 2 || i.Waiters != 0 || i.TTL <= 59*time.Minute || i.TTL > time.Hour {
				t.Errorf("%+v, %v", i, err)
			}
			// The wall clock and the client's clock are read one after the other.
			if i.Since.Before(before.Add(-time.Second)) {
				t.Errorf("held since %v, acquired between %v and %v", i.Since, before, after)
			}
			// Another client sees the same, except for Since.
			far, err := handle(other, kind).Info(t.Context())
			if err != nil || far.Owner != h.Owner() || far.Count != 2 || !far.Since.IsZero() {
				t.Errorf("elsewhere: %+v, %v", far, err)
			}
			// The owner from Info can be used to unlock.
			if err := handle(other, kind).UnlockAs(t.Context(), far.Owner); err != nil {
				t.Error(err)
			}
			if i, err := l.Info(t.Context()); err != nil || i.Count != 1 {
				t.Errorf("after one unlock: %+v, %v", i, err)
			}
			if err := errors.Join(h.Unlock(t.Context()), again.Unlock(t.Context())); err != nil && !errors.Is(err, rlock.ErrNotHeld) {
				t.Error(err)
			}
		})
	}
}

func TestInfoOfAKeyThatNeverExpires(t *testing.T) {
	s := redistest.Start(t)
	c := openWith(t, s.URL())
	h := lock(t, c, "orders", rlock.Lease(time.Hour))
	if _, err := s.Dial(t).Do("PERSIST", "orders"); err != nil {
		t.Fatal(err)
	}
	if i, err := c.NewLock("orders").Info(t.Context()); i.TTL != -1 || i.Owner != h.Owner() || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
}

// Each client counts once, however many of its callers wait.
func TestInfoCountsTheClientsThatWait(t *testing.T) {
	s := redistest.Start(t)
	c := openWith(t, s.URL())
	lock(t, c, "orders")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		l := openWith(t, s.URL()).NewLock("orders")
		for range 3 {
			go func() { _, _ = l.Lock(ctx) }()
		}
	}
	becomes(t, "two clients are heard of", func() bool {
		i, err := c.NewLock("orders").Info(t.Context())
		return err == nil && i.Waiters == 2
	})
}

// Older versions of Redisson subscribe to a cluster's plain channel, newer ones to the sharded one.
func TestInfoCountsBothSortsOfSubscribers(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	c := openCluster(t, s)
	port, err := redis.Strings(s.Conn(0).Do("CONFIG", "GET", "port"))
	if err != nil {
		t.Fatal(err)
	}
	for i, subscribe := range []string{"SUBSCRIBE", "SSUBSCRIBE"} {
		name := nameOf(0, i)
		lock(t, c, name)
		listener, err := redis.Dial("tcp", "127.0.0.1:"+port[1])
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if _, err := listener.Do(subscribe, "redisson_lock__channel:{"+name+"}"); err != nil {
			t.Fatal(err)
		}
		if i, err := c.NewLock(name).Info(t.Context()); i.Waiters != 1 || err != nil {
			t.Errorf("%s: %+v, %v", subscribe, i, err)
		}
	}
}

func TestInfoWithoutLeaveToCount(t *testing.T) {
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("ACL", "SETUSER", "worker", "on", ">secret", "~*", "&*", "+@all", "-pubsub"); err != nil {
		t.Fatal(err)
	}
	c := openWith(t, strings.Replace(s.URL(), "redis://", "redis://worker:secret@", 1))
	h := lock(t, c, "orders")
	if i, err := c.NewLock("orders").Info(t.Context()); i.Waiters != -1 || i.Owner != h.Owner() || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestInfoOfWhatIsNoLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := openWith(t, s.URL()), s.Dial(t)
	for name, row := range map[string]struct {
		command []any
		says    string
	}{
		"text":      {[]any{"SET", "text", "x"}, "the key holds a string, which is no lock"},
		"two":       {[]any{"HSET", "two", "a", 1, "b", 2}, "the key is a hash that is no lock of this kind (2 fields, as of a read-write lock)"},
		"foreign":   {[]any{"HSET", "foreign", "colour", "red"}, `the key is a hash that is no lock of this kind (field "colour")`},
		"uncounted": {[]any{"HSET", "uncounted", c.NewOwner().String(), "many"}, "many"},
		"zero":      {[]any{"HSET", "zero", c.NewOwner().String(), "0"}, "hold count"},
	} {
		if _, err := conn.Do(row.command[0].(string), row.command[1:]...); err != nil {
			t.Fatal(err)
		}
		l := c.NewLock(name)
		_, info := l.Info(t.Context())
		_, try := l.TryLock(t.Context())
		_, tryFor := l.TryLockFor(t.Context(), time.Second/2)
		for what, err := range map[string]error{"Info": info, "TryLock": try, "TryLockFor": tryFor} {
			if !errors.Is(err, rlock.ErrRefused) || errors.Is(err, rlock.ErrLocked) || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
		if n, err := conn.Do("DEL", name); n != int64(1) || err != nil {
			t.Errorf("%s is gone: %v, %v", name, n, err)
		}
	}
	if _, err := conn.Do("HSET", "held", c.NewOwner().String(), 1); err != nil { // without a TTL
		t.Fatal(err)
	}
	tap := monitor.Tap(t, s.URL())
	if _, err := c.NewLock("held").TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Error(err)
	}
	if lines := tap.Mark(); slices.ContainsFunc(lines, func(l monitor.Line) bool { return l.Is("PUBSUB") }) {
		t.Errorf("it counts who listens, which takes another command timeout: %v", lines)
	}
}

// A lock has several keys. An error about one of them says nothing untrue about the others.
func TestErrorNamesTheKeyThatIsOfAnotherType(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := openWith(t, s.URL()), s.Dial(t)
	permit := func(name string) error {
		_, err := c.NewPermitSemaphore(name).TryAcquire(t.Context(), 1)
		return err
	}
	fair := func(name string) error {
		_, err := c.NewFairLock(name).TryLockFor(t.Context(), time.Minute)
		return err
	}
	if _, err := c.NewPermitSemaphore("seats").TrySetPermits(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Do("HSET", "fair", c.NewOwner().String(), 1); err != nil {
		t.Fatal(err)
	}
	const other = "a key holds a value of another type (WRONGTYPE)"
	for name, row := range map[string]struct {
		sets string
		call func(name string) error
		says string
	}{
		"jobs":  {"HSET jobs a 1", permit, "the key holds a hash, which is no semaphore"},
		"seats": {"SET {seats}:timeout text", permit, other},
		"fair":  {"SET redisson_lock_queue:{fair} text", fair, other},
	} {
		words := strings.Fields(row.sets)
		if _, err := conn.Do(words[0], redis.Args{}.AddFlat(words[1:])...); err != nil {
			t.Fatal(err)
		}
		if err := row.call(name); !errors.Is(err, rlock.ErrRefused) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.sets, err)
		}
	}
}
