package interop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// TestReplicatedServersChangeTheirRoles has Redisson in its replicated mode beside Go, while the master and a replica swap
// their roles. Each is excluded by the other's hold, and woken by its release.
func TestReplicatedServersChangeTheirRoles(t *testing.T) {
	t.Parallel()
	const name = "busy"
	set := redistest.StartReplicated(t, 2)
	peer, client := javapeer.Start(t, javapeer.Newest, set.URL()), testbed.Open(t, set.URL())
	java, lock := peer.Thread("t"), client.NewLock(name)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	master, next := set.Nodes[0], set.Nodes[1]
	waits := func() {
		t.Helper()
		testbed.Becomes(t, "somebody waits", func() bool {
			info, err := lock.Info(ctx)
			return err == nil && info.Waiters > 0
		})
	}
	other := peer.Thread("other")
	// swap returns when both have entered another lock. Until Redisson has found the master, its calls throw.
	swap := func(how func()) {
		t.Helper()
		set.AwaitReplicas(master, 2)
		began := time.Now()
		how()
		master, next = next, master
		h, err := client.NewLock("other").Lock(ctx)
		testbed.Must(t, err)
		took := time.Since(began)
		testbed.Must(t, h.Unlock(ctx))
		var failed error
		testbed.BecomesWithin(t, time.Minute, "Redisson finds the master", func() bool {
			_, failed = other.Lock(ctx, "others", javapeer.Watchdog)
			if failed == nil {
				_, failed = other.Unlock(ctx, "others")
			}
			return failed == nil
		})
		t.Logf("Go entered after %v, Redisson after %v", took, time.Since(began))
		set.AwaitReplicas(master, 2)
	}
	for round, how := range []func(){func() { set.Swap(master, next) }, func() { set.Promote(next, master) }} {
		// Go holds, and Java waits. The roles are swapped by FAILOVER in the first round, by REPLICAOF in the second.
		hold, err := lock.Lock(ctx)
		testbed.Must(t, err)
		javas := testbed.Begun(func() error {
			for {
				// A try whose WAIT the change of roles ends throws in Java, and its program calls again.
				if _, err := java.Lock(ctx, name, javapeer.Watchdog); err == nil || !strings.Contains(err.Error(), "UNBLOCKED") {
					return err
				}
			}
		})
		waits()
		swap(how)
		select {
		case err := <-javas:
			t.Fatalf("round %d: Java entered beside Go, or failed: %v", round, err)
		default:
		}
		testbed.Must(t, hold.Err())
		testbed.Must(t, hold.Unlock(ctx))
		testbed.Must(t, testbed.Receive(t, "Java", javas))

		// Java holds, and Go waits.
		type entry struct {
			h   *rlock.Hold
			err error
		}
		gos := make(chan entry, 1)
		go func() { h, err := lock.Lock(ctx); gos <- entry{h, err} }()
		waits()
		swap(how)
		select {
		case e := <-gos:
			t.Fatalf("round %d: Go entered beside Java, or failed: %v", round, e.err)
		default:
		}
		_, err = java.Unlock(ctx, name)
		testbed.Must(t, err)
		e := testbed.Receive(t, "Go", gos)
		testbed.Must(t, e.err)
		testbed.Must(t, e.h.Unlock(ctx))
	}
}

// TestReplicatedServersFail has Go and Redisson hold a lock each while servers fail. Neither enters the other's meanwhile, and each
// enters another one afterwards, except that two masters may leave Redisson with the former one for good.
func TestReplicatedServersFail(t *testing.T) {
	t.Parallel()
	const lease = 5 * time.Minute // no hold ends while there are two masters, however long Redisson takes to try
	set := redistest.StartReplicated(t, 2)
	peer := javapeer.Start(t, javapeer.Newest, set.URL(), javapeer.WatchdogTimeout(lease))
	client := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(lease))
	ctx, cancel := context.WithTimeout(t.Context(), lease)
	defer cancel()
	java, other := peer.Thread("holds"), peer.Thread("enters")
	javaEnters := func() bool {
		_, err := other.Lock(ctx, "javas", javapeer.Watchdog)
		if err == nil {
			_, err = other.Unlock(ctx, "javas")
		}
		return err == nil
	}
	var began time.Time // of the time until both have entered
	nodes := set.Nodes
	master, next := nodes[0], nodes[1]
	for _, f := range []struct {
		name  string
		fault func()
		after func()
	}{
		{"killed", func() { began = time.Now(); master.Kill(); set.Promote(next, master) }, func() {
			master.Restart()
			set.Follow(master, next)
			master, next = next, master
		}},
		{"all away", func() {
			for _, n := range nodes {
				n.Pause()
			}
			for range 2 { // each waits for an answer
				if _, err := client.NewLock("gos").TryLock(ctx); !errors.Is(err, rlock.ErrUncertain) && !errors.Is(err, rlock.ErrUnavailable) {
					t.Errorf("Go, without any node: %v", err)
				}
			}
			began = time.Now()
			for _, n := range nodes {
				n.Resume()
			}
		}, nil},
		{"a node added", func() { set.Nodes = append(set.Nodes, master.StartReplica(t)); began = time.Now() }, nil},
		{"two masters", func() {
			set.Detach(next)
			for _, n := range set.Nodes {
				if n != next && n != master {
					set.Follow(n, next)
				}
			}
			javas := make(chan bool)
			go func() { javas <- javaEnters() }()
			for range 4 {
				if _, err := client.NewLock("gos").TryLock(ctx); !errors.Is(err, rlock.ErrUnreplicated) {
					t.Errorf("Go, with two masters: %v", err)
				}
			}
			t.Logf("two masters: Redisson entered: %t", <-javas)
			began = time.Now()
			set.Follow(master, next)
			master, next = next, master
		}, nil},
	} {
		set.AwaitReplicas(master, len(set.Nodes)-1)
		hold, err := client.NewLock("go").Lock(ctx)
		testbed.Must(t, err)
		testbed.BecomesWithin(t, time.Minute, "Redisson holds", func() bool {
			_, err := java.Lock(ctx, "java", javapeer.Watchdog)
			return err == nil
		})
		f.fault()
		h, err := client.NewLock("gos").Lock(ctx)
		testbed.Must(t, err)
		took := time.Since(began)
		testbed.Must(t, h.Unlock(ctx))
		entered := javaEnters()
		for !entered && time.Since(began) < time.Minute/2 {
			entered = javaEnters()
		}
		t.Logf("%s: Go entered after %v, Redisson after %v: %t", f.name, took, time.Since(began), entered)
		if !entered && f.name == "two masters" {
			testbed.Must(t, hold.Unlock(ctx)) // Redisson may stay with the former master for good
			return
		} else if !entered {
			t.Fatalf("%s: Redisson enters no more", f.name)
		}
		if _, err := client.NewLock("java").TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("%s: Go beside Redisson: %v", f.name, err)
		}
		if r, err := other.TryLock(ctx, "go"); err != nil || r.Bool() {
			t.Errorf("%s: Redisson beside Go: %v, %v", f.name, r, err)
		}
		testbed.Must(t, hold.Err())
		testbed.Must(t, hold.Unlock(ctx))
		_, err = java.Unlock(ctx, "java")
		testbed.Must(t, err)
		if f.after != nil {
			f.after()
		}
	}
}
