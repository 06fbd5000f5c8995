package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// counted is an object that callers wait for and that is no lock.
type counted struct {
	opens func() error                    // lets one call through
	pass  func(ctx context.Context) error // waits, and gives back what it got
	try   func(ctx context.Context, wait time.Duration) error
	not   error // the error of a wait that has elapsed
}

// counted returns two kinds of semaphore and a latch of a client, for each of which every call waits until another client opens it.
func (r *rig) counted(c, other *rlock.Client) map[string]counted {
	r.Helper()
	ctx := context.Background()
	must(other.NewPermitSemaphore("seats").TrySetPermits(ctx, 0))(r)
	must(other.NewSemaphore("rooms").TrySetPermits(ctx, 0))(r)
	must(other.NewCountDownLatch("ready").TrySetCount(ctx, 1))(r)
	seats, rooms, ready := c.NewPermitSemaphore("seats"), c.NewSemaphore("rooms"), c.NewCountDownLatch("ready")
	return map[string]counted{
		"permits": {
			opens: func() error { return other.NewPermitSemaphore("seats").AddPermits(ctx, 1) },
			pass:  func(ctx context.Context) error { return seats.Do(ctx, 1, nothing) },
			try: func(ctx context.Context, wait time.Duration) error {
				_, err := seats.TryAcquireFor(ctx, 1, wait)
				return err
			},
			not: rlock.ErrNoPermits,
		},
		"semaphore": {
			opens: func() error { return other.NewSemaphore("rooms").AddPermits(ctx, 1) },
			pass:  func(ctx context.Context) error { return rooms.Do(ctx, 1, nothing) },
			try:   func(ctx context.Context, wait time.Duration) error { return rooms.TryAcquireFor(ctx, 1, wait) },
			not:   rlock.ErrNoPermits,
		},
		"latch": {
			opens: func() error { return other.NewCountDownLatch("ready").CountDown(ctx) },
			pass:  ready.Await,
			try:   ready.AwaitFor,
			not:   rlock.ErrNotOpen,
		},
	}
}

// A6: the error of a wait says why it ended.
func TestWaitForWhatIsCountedSaysHowItEnded(t *testing.T) {
	bg := context.Background()
	inBubble(t, func(r *rig) {
		all := r.counted(r.open(), r.open())
		for name, n := range all {
			if err := n.try(bg, time.Second); !errors.Is(err, n.not) || errors.Is(err, rlock.ErrUnavailable) {
				t.Errorf("%s: a wait that is over: %v", name, err)
			}
			ctx, cancel := context.WithTimeout(bg, time.Second)
			if err := n.pass(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, n.not) {
				t.Errorf("%s: a context that is over: %v", name, err)
			}
			cancel()
		}
		r.pass(time.Minute) // else an answer to a call before is the last one that is known
		r.at(func() { r.server.Paused = true })
		for name, n := range all {
			if err := n.try(bg, 300*time.Millisecond); err == nil || errors.Is(err, n.not) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: a server that does not answer: %v", name, err)
			} else if (name == "latch") == strings.Contains(err.Error(), "whatever it took is given back") {
				t.Errorf("%s: what becomes of its last attempt: %v", name, err)
			}
		}
		r.at(func() { r.server.Resume() })
	})
}

// A7: a call that was told to wait goes on waiting through an outage, and enters once the server is back.
func TestWaitForWhatIsCountedOutlastsTheServer(t *testing.T) {
	inBubble(t, func(r *rig) {
		all := r.counted(r.open(), r.open())
		passed := make(chan error, len(all))
		for _, n := range all {
			go func() { passed <- n.pass(context.Background()) }()
		}
		r.pass(time.Second)
		r.at(func() { r.server.Kill(false) })
		r.pass(time.Minute) // many command timeouts, in which each poll meets no server
		if len(passed) > 0 {
			t.Errorf("one gave up: %v", <-passed)
		}
		r.at(func() { r.server.Start(true) })
		for name, n := range all {
			if err := n.opens(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for range all {
			if err := <-passed; err != nil {
				t.Error(err)
			}
		}
	})
}

// A7: so does one for several locks.
func TestMultiLockOutlastsTheServer(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		m := rlock.NewMultiLock(r.open().NewLock("stock"))
		taken := must(r.open().NewLock("stock").Lock(ctx, rlock.Lease(10*time.Minute)))(r)
		passed := make(chan error, 1)
		enter := func() { passed <- m.Do(ctx, nothing) }
		go enter()
		r.pass(time.Second)
		r.at(func() { r.server.Kill(false) })
		r.pass(time.Minute) // many rounds get nowhere
		if len(passed) > 0 {
			t.Fatalf("it gave up: %v", <-passed)
		}
		r.at(func() { r.server.Start(true) })
		must(0, taken.Unlock(ctx))(r)
		if err := <-passed; err != nil {
			t.Error(err)
		}
		// No reply has told this call to wait.
		r.at(func() { r.server.Kill(false) })
		go enter()
		if err := <-passed; !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrUncertain) {
			t.Error(err)
		}
	})
}

// Another round also follows if the attempt was never written, because it was behind others without a reply.
func TestMultiLockOutlastsARoundThatCouldNotBeSent(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		c := r.open(rlock.WithCommandTimeout(time.Minute))
		r.at(func() { r.server.Paused = true })
		ended := make(chan error, 9)
		for i := range 8 {
			go func() { ended <- c.NewLock(fmt.Sprint("before-", i)).Do(ctx, nothing) }()
			r.pass(20 * time.Millisecond) // so that each is sent in a separate batch
		}
		go func() { ended <- rlock.NewMultiLock(c.NewLock("behind")).Do(ctx, nothing) }()
		r.pass(5 * time.Second) // a round of one lock is 1.5 s
		r.at(func() { r.server.Resume() })
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// A spinning wait that is cancelled sends nothing more.
func TestCancelledSpinningEndsAtOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		must(r.open().NewSpinLock("orders").Lock(context.Background(), rlock.Lease(10*time.Minute)))(r)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		l := r.open().NewSpinLock("orders")
		go func() {
			_, err := l.Lock(ctx)
			ended <- err
		}()
		r.pass(time.Second)
		began := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || since(began) > 0 {
			t.Errorf("it ended after %v: %v", since(began), err)
		}
		r.pass(10 * time.Millisecond) // what was written before has run by then
		ran := r.scripts(2)
		r.pass(time.Minute)
		if n := ran(); n > 0 {
			t.Errorf("it goes on with %d scripts", n)
		}
	})
}

// A caller that left does not hear the end of its unlock. Nor does the caller of a later one, which may wait at the same time.
func TestUnlockIsNotAnsweredByOneWhoseCallerHasLeft(t *testing.T) {
	inBubble(t, func(r *rig) {
		c, over := r.open(), r.Context()
		var lost, held []*rlock.Hold
		for i := range 20 { // more than one, because a sync.Pool drops some under the race detector
			lost = append(lost, must(c.NewLock(fmt.Sprint("lost", i)).TryLock(over))(r))
			held = append(held, must(c.NewLock(fmt.Sprint("held", i)).TryLock(over))(r))
		}
		over, end := context.WithCancel(over)
		end()
		r.at(func() { r.cut(true) })
		unlock := func(ctx context.Context, all []*rlock.Hold, check func(error) bool) {
			for _, h := range all {
				go func() {
					if err := h.Unlock(ctx); !check(err) {
						t.Errorf("the unlock of %s: %v", h.Name(), err)
					}
				}()
			}
		}
		unlock(over, lost, func(err error) bool { return err != nil })
		r.pass(4 * time.Second) // their callers have left
		unlock(context.Background(), held, func(err error) bool { return err == nil })
		synctest.Wait()
		for i := range lost {
			r.do("DEL", fmt.Sprint("lost", i))
		}
		r.at(func() { r.cut(false) })
		r.pass(10 * time.Second)
	})
}

// An owner's last unlock leaves nothing for that of a hold which ended by itself and waits behind it.
func TestUnlockOfALostHoldThatWaitsIsNotCounted(t *testing.T) {
	inBubble(t, func(r *rig) {
		c := r.open()
		l, owner := c.NewLock("orders"), rlock.As(c.NewOwner())
		lost := must(l.TryLock(r.Context(), owner, rlock.Lease(time.Second)))(r)
		fixed := must(l.TryLock(r.Context(), owner, rlock.Lease(time.Minute)))(r)
		last := must(l.TryLock(r.Context(), owner))(r)
		<-lost.Done()
		r.at(func() { r.world.Between(host(1), address).Slow = time.Second })
		go func() { _ = fixed.Extend(context.Background(), time.Minute) }() // what follows waits for it
		synctest.Wait()
		go func() { _ = fixed.Unlock(context.Background()) }()
		synctest.Wait()
		time.AfterFunc(time.Millisecond, func() { _ = lost.Unlock(context.Background()) })
		if err := last.Unlock(context.Background()); err != nil {
			t.Fatal(err)
		}
		r.at(func() {
			if r.server.Exists("orders") {
				t.Errorf("it is still held: %s", r.server.Dump("orders"))
			}
		})
		r.pass(10 * time.Second)
	})
}
