package sentinels_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// long is a lease whose third is far beyond any failover here: a hold that is
// renewed, or lost, sooner was checked because of the failover.
const long = 10 * time.Minute

func TestHoldThatTheReplicasHaveOutlivesTheMaster(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(long))
	former := set.Master()
	// WAIT is sent by default, but one of two replicas is enough for it.
	h := lock(t, c.NewLock("kept"))
	for _, n := range set.Nodes {
		testbed.BecomesWithin(t, farOff, "on each node", func() bool { return holds(t, n, h) })
	}
	before := h.ValidUntil()
	set.AllowFailover()
	former.Kill()
	untilRenewed(t, h, before)
	testbed.Must(t, h.Err())
	next := set.AwaitMaster(former)
	if !holds(t, next, h) {
		t.Error("the master does not have it")
	}
	if _, err := testbed.Open(t, set.URL()).NewLock("kept").TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("somebody else: %v", err)
	}
	unlock(t, h)
	testbed.BecomesWithin(t, farOff, "released", func() bool { return !holds(t, next, h) })
}

// TestOneLeadsBehindAFailover shows that a leader whose lock all replicas have goes on after a failover, or another takes
// over, but never two at once. It counts the functions that run with a context that has not ended.
func TestOneLeadsBehindAFailover(t *testing.T) {
	t.Parallel()
	for failover, begin := range map[string]func(*redistest.SentinelSet, *redistest.Server){
		"planned":       func(set *redistest.SentinelSet, _ *redistest.Server) { set.Failover(set.Sentinels[0]) },
		"master killed": func(set *redistest.SentinelSet, master *redistest.Server) { set.AllowFailover(); master.Kill() },
	} {
		t.Run(failover, func(t *testing.T) { leadsBehind(t, begin) })
	}
}

func leadsBehind(t *testing.T, begin func(*redistest.SentinelSet, *redistest.Server)) {
	const lease = 5 * time.Second
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	var inside, terms atomic.Int32
	leads, giveWay := make(chan context.Context, 10), make(chan bool)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for range 3 {
		l := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(lease)).NewLock("leader")
		all.Go(func() {
			_ = l.Lead(ctx, func(ctx context.Context) error {
				if inside.Add(1) > 1 && ctx.Err() == nil {
					t.Error("two lead")
				}
				defer inside.Add(-1)
				terms.Add(1)
				leads <- ctx
				select {
				case <-giveWay:
				case <-ctx.Done():
				}
				return nil
			})
		})
	}
	next := func(within time.Duration) context.Context {
		t.Helper()
		select {
		case ctx := <-leads:
			return ctx
		case <-time.After(within):
			t.Fatalf("nobody leads within %v", within)
			panic("unreachable")
		}
	}
	leader := next(lease)
	for _, n := range set.Nodes {
		conn := n.Dial(t)
		testbed.Becomes(t, "on each node", func() bool { there, err := conn.Do("EXISTS", "leader"); return there == int64(1) && err == nil })
	}
	former := set.Master()
	begin(set, former)
	set.AwaitMaster(former)
	for again := 0; again < 2; { // after the failover the leader gives way twice, unless it lost the lock
		what := "the former gave way"
		select {
		case giveWay <- true:
			again++
		case <-leader.Done():
			what = "the lock was lost"
		}
		leader = next(farOff)
		t.Log("a leader after", what)
	}
	t.Logf("%d terms", terms.Load())
}
