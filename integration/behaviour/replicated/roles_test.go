package replicated_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// TestMasterThatComesBackIsNotBelieved kills the master, and starts it again: it is empty, and says that it is a master,
// until it is made a replica.
func TestMasterThatComesBackIsNotBelieved(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 2)
	former, next := set.Nodes[0], set.Nodes[1]
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(long), rlock.WithConnectionName(named))
	h := lock(t, c.NewLock("kept"))
	everywhere(t, set, "kept")
	before := h.ValidUntil()
	former.Kill()
	set.Promote(next, former)
	untilRenewed(t, h, before)
	former.Restart()
	_, err := rlock.Open(t.Context(), set.URL(), rlock.WithCommandTimeout(time.Second))
	bothNamed(t, err, former.Addr(), next.Addr())
	unlock(t, lock(t, c.NewLock("other"))) // the third node acknowledges
	if has(t, former, "other") || len(connections(t, former)) != 0 {
		t.Errorf("it was used: %q", connections(t, former))
	}
	set.Follow(former, next)
	set.AwaitReplicas(next, 2)
	if err := h.Err(); err != nil || !has(t, next, "kept") {
		t.Errorf("the hold: %v", err)
	}
	if _, err := testbed.Open(t, set.URL()).NewLock("kept").TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("somebody else: %v", err)
	}
	unlock(t, h)
}

// TestTwoMastersForTenSeconds detaches a replica, which the other one follows. The client's own master goes on calling
// itself the master, and acknowledges alone.
func TestTwoMastersForTenSeconds(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 2)
	former, next := set.Nodes[0], set.Nodes[1]
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(long))
	h := lock(t, c.NewLock("kept"))
	everywhere(t, set, "kept")
	set.Detach(next)
	set.Follow(set.Nodes[2], next)
	tried, refused := time.After(10*time.Second), 0
	for on := true; on; {
		_, err := c.NewLock("orders").TryLock(t.Context())
		if !errors.Is(err, rlock.ErrUnreplicated) {
			t.Fatalf("try %d: %v", refused, err)
		}
		refused++
		select {
		case <-tried:
			on = false
		default:
		}
	}
	t.Logf("%d tries were refused", refused)
	_, err := rlock.Open(t.Context(), set.URL(), rlock.WithCommandTimeout(time.Second))
	bothNamed(t, err, former.Addr(), next.Addr())
	if err := h.Err(); err != nil {
		t.Errorf("the hold: %v", err)
	}
	before := h.ValidUntil()
	set.Follow(former, next)
	untilRenewed(t, h, before)
	unlock(t, lock(t, c.NewLock("orders")))
	unlock(t, h)
}

// TestAllNodesAway stops all nodes for a while. Their data stay.
func TestAllNodesAway(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 2)
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(long), rlock.WithCommandTimeout(time.Second))
	h := lock(t, c.NewLock("kept"))
	everywhere(t, set, "kept")
	for _, n := range set.Nodes {
		n.Pause()
	}
	for range 2 {
		if _, err := c.NewLock("orders").Lock(t.Context()); !errors.Is(err, rlock.ErrUncertain) && !errors.Is(err, rlock.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := rlock.Open(t.Context(), set.URL(), rlock.WithCommandTimeout(time.Second)); !errors.Is(err, rlock.ErrUnavailable) {
		t.Errorf("another client: %v", err)
	}
	if err := h.Err(); err != nil {
		t.Errorf("the hold: %v", err)
	}
	for _, n := range set.Nodes {
		n.Resume()
	}
	unlock(t, lock(t, c.NewLock("orders")))
	unlock(t, h)
}

// TestNodeThatIsNotListed adds a replica that the URL lacks, and makes it the master.
func TestNodeThatIsNotListed(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1)
	url, master := set.URL(), set.Nodes[0]
	c := testbed.Open(t, url, rlock.WithWatchdogTimeout(long), rlock.WithCommandTimeout(time.Second))
	h := lock(t, c.NewLock("kept"))
	added := master.StartReplica(t)
	set.Nodes = append(set.Nodes, added)
	everywhere(t, set, "kept")
	unlock(t, lock(t, c.NewLock("orders")))
	set.Promote(added, master)
	testbed.BecomesWithin(t, farOff, "nobody enters", func() bool {
		_, err := c.NewLock("orders").TryLock(t.Context())
		return errors.Is(err, rlock.ErrUnavailable)
	})
	_, err := rlock.Open(t.Context(), url, rlock.WithCommandTimeout(time.Second))
	bothNamed(t, err, master.Addr(), added.Addr()+", which the URL does not list")
	before := h.ValidUntil()
	set.Promote(set.Nodes[1], added)
	untilRenewed(t, h, before)
	unlock(t, lock(t, c.NewLock("orders")))
	unlock(t, h)
}
