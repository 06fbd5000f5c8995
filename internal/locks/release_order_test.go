package locks

import (
	"context"
	"fmt"
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// slowReplicas opens a client of a master with two replicas. After silence one says nothing, so
// each WAIT takes its second. Both connections are open, and all scripts are known.
func slowReplicas(t *testing.T, edits ...func(*Config)) (c *Client, silence func()) {
	t.Helper()
	s := redistest.Start(t)
	var mute *redistest.Server
	for range 2 {
		mute = s.StartReplica(t)
	}
	o := config()
	o.Replicas = true
	o.Topology = func(settings topology.Settings) (topology.Topology, error) { return topology.Open(s.URL(), settings) }
	for _, edit := range edits {
		edit(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l := c.NewLock(kind.Reentrant, "first", "first")
	mustUnlock(t, mustAcquire(t, &l))
	if _, err := ForceUnlock(t.Context(), &l); err != nil {
		t.Fatal(err)
	}
	return c, func() {
		mute.Pause()
		t.Cleanup(mute.Resume)
	}
}

// unlocking begins to unlock h. It returns when the release is on its way, with its outcome to come.
func unlocking(t *testing.T, h *Hold) <-chan error {
	t.Helper()
	released := make(chan error, 1)
	go func() { released <- Unlock(context.Background(), h) }()
	redistest.Becomes(t, "the release is on its way", func() bool { return h.Err() != nil })
	return released
}

// wentAside tells whether w's attempt went aside. The attempt must still be unanswered.
func wentAside(t *testing.T, w *Waiter) bool {
	t.Helper()
	now := w.snapshot()
	if !now.attempt {
		t.Fatal("it has had its answer")
	}
	return now.aside
}

// An acquire in the usual order would be refused before the release that is under way has run.
func TestAcquireFollowsAReleaseThatHasNoAnswer(t *testing.T) {
	redistest.Slow(t, "waits for WAITs of a second")
	t.Parallel()
	c, silence := slowReplicas(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	free := c.NewLock(kind.Reentrant, "invoices", "invoices")
	sec := l.shard.enter(mustNotBlock)
	l.shard.pin(&l) // keeps the name's state, as other waiters would
	sec.leave()
	h := mustAcquire(t, &l)
	silence()
	released := unlocking(t, h)
	ended := make(chan outcome, 2)
	if !wentAside(t, wait(t.Context(), t, &l, 0, ended, Terms{})) {
		t.Error("it goes before the release")
	}
	if wentAside(t, wait(t.Context(), t, &free, 1, ended, Terms{})) {
		t.Error("an acquire of a name that nobody releases went aside")
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	for range 2 {
		if o := next(t, ended); o.who == 0 {
			h = o.hold
		}
	}
	mustUnlock(t, h)
	if w := wait(t.Context(), t, &l, 2, ended, Terms{}); wentAside(t, w) {
		t.Error("it went aside, though the release was answered")
	}
	next(t, ended)
}

// An acquire that is granted after a ForceUnlock must have been sent after it.
func TestNoAcquireGoesAsideWhileAForceUnlockIsUnderWay(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for WAITs of a second")
	c, silence := slowReplicas(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	silence()
	released := unlocking(t, h)
	forced := make(chan error, 1)
	go func() {
		_, err := ForceUnlock(context.Background(), &l)
		forced <- err
	}()
	forcing(t, l.shard, 1)
	ended := make(chan outcome, 1)
	w := wait(t.Context(), t, &l, 0, ended, Terms{})
	if wentAside(t, w) {
		t.Error("it may run before the ForceUnlock, which would delete what it gets")
	}
	<-released // unless the ForceUnlock was first
	if err := <-forced; err != nil {
		t.Error(err)
	}
	if h := next(t, ended).hold; h.Err() != nil {
		t.Errorf("granted behind the ForceUnlock: %v", h.Err())
	}
}

// forcing waits until n ForceUnlocks may run.
func forcing(t *testing.T, s *shard, n int) {
	t.Helper()
	redistest.Becomes(t, fmt.Sprint(n, " may run"), func() bool {
		defer s.enter(mustNotBlock).leave()
		return s.forcing == n
	})
}

// A ForceUnlock of another name keeps an acquire from following its client's release. So the
// acquire may be refused before the release runs, and must hear the release's message. Until that
// comes it does not try again.
func TestWhoCouldNotFollowAReleaseHearsOfIt(t *testing.T) {
	t.Parallel()
	for what, expected := range map[string]bool{"its message is expected": true, "no message is expected": false} {
		t.Run(what, func(t *testing.T) {
			server := redistest.Start(t)
			conn := server.Dial(t)
			c := open(t, server)
			l := c.NewLock(kind.Reentrant, "orders", "orders")
			ended := make(chan outcome, 1)
			h := mustAcquire(t, &l)
			refused(t, wait(t.Context(), t, &l, 0, ended, Terms{}), 1)
			mustUnlock(t, h)
			mustUnlock(t, next(t, ended).hold) // the queue listens for a while longer
			do(t, conn, "HSET", "orders", "not yet released", 1)
			s := l.shard
			sec := s.enter(mayBlock)
			n := s.pin(&l)
			n.ahead++
			s.forcing++
			if expected {
				n.handOff(&l)
			}
			sec.leave()
			refused(t, wait(t.Context(), t, &l, 1, ended, Terms{}), 1) // and makes no attempt for now
			do(t, conn, "DEL", "orders")
			sec = s.enter(mayBlock)
			n.ahead--
			s.forcing--
			q := n.findQueue(&l, Owner{})
			q.Message(s.Now(), 1)
			n.step()
			n.unpin()
			sec.leave()
			mustUnlock(t, next(t, ended).hold)
		})
	}
}
