package interop

import (
	"context"
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
