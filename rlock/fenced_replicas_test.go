package rlock_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A grant that no replica acknowledged is given back. Its token is used up.
func TestTokenOfAGrantThatNoReplicaHasIsUsedUp(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for a command timeout")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	c := openWith(t, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(1500*time.Millisecond))
	l := c.NewFencedLock("orders")
	replica.Pause()
	t.Cleanup(replica.Resume)
	if h, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Fatalf("%v, %v", h, err)
	}
	used, err := l.LastToken(t.Context())
	if err != nil || used < 1 {
		t.Fatalf("%d tokens are used up, %v", used, err)
	}
	replica.Resume()
	becomes(t, "what was granted is given back", func() bool {
		locked, err := l.IsLocked(t.Context())
		return err == nil && !locked
	})
	h, err := l.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h.Token() <= used {
		t.Errorf("token %d, after %d were used up", h.Token(), used)
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// One of two replicas is silent, and may be the next master. A lock ends with its lease, a token or permit does
// not.
func TestGrantThatCountsNeedsAllReplicas(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica is silent for some command timeouts")
	s := redistest.Start(t)
	s.StartReplica(t)
	silent := s.StartReplica(t)
	c := openWith(t, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(1500*time.Millisecond))
	room := c.NewSemaphore("room")
	if _, err := room.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	fenced := c.NewFencedLock("orders")
	calls := map[string]func() error{
		"plain": func() error { return c.NewLock("plain").Do(t.Context(), func(context.Context) error { return nil }) },
		"fenced": func() error {
			h, err := fenced.TryLock(t.Context())
			if err == nil {
				err = h.Unlock(t.Context())
			}
			return err
		},
		"semaphore": func() error {
			err := room.TryAcquire(t.Context(), 1)
			if err == nil {
				err = room.Release(t.Context(), 1)
			}
			return err
		},
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	silent.Pause()
	t.Cleanup(silent.Resume)
	for name, call := range calls {
		err := call()
		if counts := name != "plain"; counts != errors.Is(err, rlock.ErrUnreplicated) || counts && !strings.Contains(err.Error(), "1 of 2 replicas") {
			t.Errorf("%s: %v", name, err)
		}
	}
	silent.Resume()
	for name, call := range calls {
		becomes(t, name+" is granted again", func() bool { return call() == nil })
	}
	becomes(t, "nothing is left of what was not granted", func() bool {
		free, err := room.Available(t.Context())
		return err == nil && free == 3
	})
}

// The next master's only replica is known to the Sentinels, and has not got its data yet. If it took over, a lock would end
// with its lease, and a token would be given out again.
func TestTokenNeedsTheReplicaThatTheNextMasterWillHave(t *testing.T) {
	t.Parallel()
	var nodes [3]redistest.Front
	nodes[2].Args = []string{"--replica-priority", "0"}
	set := redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, [3]redistest.Front{})
	former, next, late := set.Nodes[0], set.Nodes[1], set.Nodes[2]
	var away atomic.Bool // the client does not reach the next master
	c := openWith(t, set.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(1500*time.Millisecond), rlock.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		if away.Load() && addr == next.Addr() {
			return nil, errors.New("not yet")
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}))
	try := func(l *rlock.Lock) error {
		h, err := l.TryLock(t.Context())
		if err == nil {
			err = h.Unlock(t.Context())
		}
		return err
	}
	plain, fenced := c.NewLock("plain"), c.NewFencedLock("orders")
	becomes(t, "a token is granted", func() bool { return try(fenced) == nil })
	if _, err := late.Dial(t).Do("CONFIG", "SET", "masteruser", "nobody", "masterauth", "wrong"); err != nil {
		t.Fatal(err)
	}
	away.Store(true)
	set.Failover(set.Sentinels[0])
	set.AwaitMaster(former)
	for _, s := range set.Sentinels[1:] { // no majority can say that the master stays
		s.Pause()
		defer s.Resume()
	}
	sentinel := set.Sentinels[0].Dial(t)
	becomes(t, "the replica is known, and not down", func() bool {
		all, _ := redis.Values(sentinel.Do("SENTINEL", "REPLICAS", redistest.MasterName))
		for _, one := range all {
			if m, err := redis.StringMap(one, nil); err == nil && net.JoinHostPort(m["ip"], m["port"]) == late.Addr() {
				return m["flags"] == "slave"
			}
		}
		return false
	})
	away.Store(false)
	becomes(t, "a lock is granted", func() bool { return try(plain) == nil })
	if err := try(fenced); !errors.Is(err, rlock.ErrUnreplicated) {
		t.Errorf("a token that the replica lacks: %v", err)
	}
	if _, err := late.Dial(t).Do("CONFIG", "SET", "masteruser", "", "masterauth", ""); err != nil {
		t.Fatal(err)
	}
	becomes(t, "a token is granted again", func() bool { return try(fenced) == nil })
}
