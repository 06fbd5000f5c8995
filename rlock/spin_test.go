package rlock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// spinning acquires in the background, and sends the hold.
func spinning(t *testing.T, l *Lock, opts ...AcquireOption) <-chan *Hold {
	got := make(chan *Hold, 1)
	go func() { got <- lockOf(t, l, opts...) }()
	return got
}

// listensToNobody checks that no command subscribes or publishes.
func listensToNobody(t *testing.T, lines []monitor.Line) {
	t.Helper()
	for _, l := range lines {
		for _, name := range []string{"SUBSCRIBE", "SSUBSCRIBE", "PUBLISH", "SPUBLISH", "PUBSUB"} {
			if l.Is(name) {
				t.Errorf("a spin lock sent %v", l)
			}
		}
	}
}

func TestSpinLockExcludesAndPublishesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	tap := monitor.Tap(t, s.URL())
	var inside atomic.Int32
	var wg sync.WaitGroup
	total := 0
	for i := range 12 {
		l := []*Client{a, b}[i%2].NewSpinLock("counter")
		wg.Go(func() {
			for range 20 {
				err := l.Do(context.Background(), func(context.Context) error {
					if inside.Add(1) != 1 {
						t.Error("two are inside")
					}
					total++
					inside.Add(-1)
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if total != 240 {
		t.Errorf("counted %d", total)
	}
	listensToNobody(t, tap.Mark())
	if left, err := s.Dial(t).Do("EXISTS", "counter"); left != int64(0) || err != nil {
		t.Errorf("the key is left: %v, %v", left, err)
	}
}

func TestSpinReentry(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewSpinLock("orders")
	outer := lockOf(t, l, Lease(time.Minute))
	inner := lockOf(t, l, As(outer.Owner()), Lease(10*time.Second))
	// A plain lock of the name has the same hash, so the owner re-enters it.
	plain := lockOf(t, c.NewLock("orders"), As(outer.Owner()), Lease(10*time.Second))
	counts(t, l, outer.Owner(), 3)
	if _, err := l.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("another owner: %v", err)
	}
	mustUnlock(t, plain)
	mustUnlock(t, inner)
	counts(t, l, outer.Owner(), 1)
	if ttl, err := l.RemainTTL(t.Context()); err != nil || ttl < 50*time.Second {
		t.Errorf("what is left has %v, %v", ttl, err)
	}
	if err := outer.Err(); err != nil {
		t.Error(err)
	}
	mustUnlock(t, outer)
	if locked, err := l.IsLocked(t.Context()); locked || err != nil {
		t.Errorf("locked %v, %v", locked, err)
	}
	if err := l.UnlockAs(t.Context(), c.NewOwner()); !errors.Is(err, ErrNotHeld) {
		t.Errorf("a stranger's unlock: %v", err)
	}
}

// A re-entry that was refused waits. It enters once its owner holds the lock by another call.
func TestSpinningOwnerIsLetThrough(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s, WithWatchdogTimeout(time.Hour)), open(t, s)
	held := lockOf(t, a.NewSpinLock("orders"))
	l, o := b.NewSpinLock("orders"), b.NewOwner()
	first, second := spinning(t, l, As(o)), spinning(t, l, As(o))
	awaitQueued(t, l, 2)
	mustUnlock(t, held)
	h1, h2 := <-first, <-second
	mustUnlock(t, h1)
	mustUnlock(t, h2)
}

func TestSpinLeaseEndsAndLetsTheNextIn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	h := lockOf(t, a.NewSpinLock("orders"), Lease(400*time.Millisecond))
	next := <-spinning(t, b.NewSpinLock("orders"))
	if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("the hold whose lease ended: %v", err)
	}
	mustUnlock(t, next)
}

func TestWatchdogRenewsSpinAndPlainLocksInOneBatch(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithWatchdogTimeout(soon))
	spin := lockOf(t, c.NewSpinLock("spin"))
	plain := lockOf(t, c.NewLock("plain"))
	tap := monitor.Tap(t, s.URL())
	tap.UntilMatch("a renewal of both", func(l monitor.Line) bool {
		return l.Is("EVALSHA") && len(l.Args) > 2 && l.Args[2] == "2"
	})
	for _, h := range []*Hold{spin, plain} {
		if err := h.Err(); err != nil {
			t.Error(err)
		}
		mustUnlock(t, h)
	}
}

func TestForcedSpinLockIsLostAndPublishesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s, WithWatchdogTimeout(time.Hour)), open(t, s)
	h := lockOf(t, a.NewSpinLock("orders"))
	plain := lockOf(t, a.NewLock("orders"), As(h.Owner()))
	tap := monitor.Tap(t, s.URL())
	got := spinning(t, b.NewSpinLock("orders"))
	awaitQueued(t, b.NewSpinLock("orders"), 1)
	awaitQueued(t, b.NewLock("orders"), 0) // a spin lock's queue is not a plain lock's
	if was, err := a.NewSpinLock("orders").ForceUnlock(t.Context()); !was || err != nil {
		t.Fatalf("%v, %v", was, err)
	}
	for _, lost := range []*Hold{h, plain} {
		if err := lost.Err(); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%v", err)
		}
	}
	mustUnlock(t, <-got)
	if was, err := b.NewSpinLock("orders").ForceUnlock(t.Context()); was || err != nil {
		t.Errorf("of nobody's: %v, %v", was, err)
	}
	listensToNobody(t, tap.Mark())
}

func TestLostRepliesOfASpinLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithCommandTimeout(5*time.Second))
	l := c.NewSpinLock("orders")
	h := lockOf(t, l) // connects
	mustUnlock(t, h)

	var got <-chan *Hold
	breakOff(t, s, func() { got = spinning(t, l) })
	h = <-got
	counts(t, l, h.Owner(), 1)
	done := make(chan error, 1)
	breakOff(t, s, func() { go func() { done <- h.Unlock(context.Background()) }() })
	if err := <-done; err != nil {
		t.Errorf("the unlock: %v", err)
	}
	if locked, err := l.IsLocked(t.Context()); locked || err != nil {
		t.Errorf("locked %v, %v", locked, err)
	}

	h = lockOf(t, l)
	breakOff(t, s, func() { got = spinning(t, l, As(h.Owner())) })
	inner := <-got
	counts(t, l, h.Owner(), 2)
	mustUnlock(t, inner)
	mustUnlock(t, h)
}

func TestCancelledSpinningLeavesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewSpinLock("orders")
	h := lockOf(t, l, Lease(time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := l.Lock(ctx)
		ended <- err
	}()
	awaitQueued(t, l, 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	awaitQueued(t, l, 0)
	mustUnlock(t, h)
	if l.l.Snapshot().Known {
		t.Error("something of the name is left")
	}
}
