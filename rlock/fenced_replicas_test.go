package rlock_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

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
