package rlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// soon is much shorter than the leases here.
const soon = 3 * time.Second

// busy spins for d: a sleep would take longer.
func busy(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

// handedOn returns a hold that came by a hand-off within the client, so its queue is still subscribed.
func handedOn(t *testing.T, c *Client, l *Lock) *Hold {
	t.Helper()
	h := lockOf(t, l)
	entered := make(chan *Hold)
	go func() { entered <- lockOf(t, l) }()
	awaitListening(t, c, l.Name())
	mustUnlock(t, h)
	return <-entered
}

// lockOf acquires l. It may be called on any goroutine. It waits for less than the minute after which a waiter of an
// endless lease looks by itself.
func lockOf(t *testing.T, l *Lock, opts ...AcquireOption) *Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*soon)
	defer cancel()
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		t.Error(err)
	}
	return h
}

func mustUnlock(t *testing.T, h *Hold) {
	t.Helper()
	if h == nil {
		return // lockOf reported it
	}
	if err := h.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
}

// awaitQueued waits until n callers of the client are in the lock's queue.
func awaitQueued(t *testing.T, l *Lock, n int) {
	t.Helper()
	becomes(t, fmt.Sprint(n, " wait"), func() bool { return l.l.Snapshot().Waiting == n })
}

// An acquire with As makes its first try outside the queue. Here it is refused while the holder's unlock follows it on the
// wire, and the unlock's message is the only thing that can wake it.
func TestTryBesideTheQueueIsWokenByTheUnlockBehindIt(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t), WithWatchdogTimeout(time.Hour))
	l := c.NewLock("orders")
	for range 100 {
		h := handedOn(t, c, l)
		var both sync.WaitGroup
		both.Go(func() {
			mustUnlock(t, lockOf(t, l, As(c.NewOwner())))
		})
		busy(rand.N(150 * time.Microsecond))
		mustUnlock(t, h)
		both.Wait()
		if t.Failed() {
			return
		}
	}
}

// forgetAllButLock makes the server forget all scripts except the one for acquiring, which Redisson uses too.
func forgetAllButLock(t *testing.T, s *redistest.Server) {
	t.Helper()
	conn := s.Dial(t)
	defer conn.Close()
	for _, args := range [][]any{{"FLUSH"}, {"LOAD", luasrc.LockScript.Source}} {
		if _, err := conn.Do("SCRIPT", args...); err != nil {
			t.Fatal(err)
		}
	}
}

// The unlock's script has to be loaded first, so it runs after an acquire that was queued later.
func TestUnlockThatIsLoadedFirstWakesWhoCameBetween(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithWatchdogTimeout(time.Hour))
	l := c.NewLock("orders")
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		h := handedOn(t, c, l)
		forgetAllButLock(t, s)
		var both sync.WaitGroup
		both.Go(func() { mustUnlock(t, h) })
		busy(rand.N(150 * time.Microsecond))
		next := lockOf(t, l)
		both.Wait()
		mustUnlock(t, next)
		if t.Failed() {
			return
		}
	}
}

// waits starts a waiting caller, and sends the time when it enters.
func waits(t *testing.T, c *Client, l *Lock) <-chan time.Time {
	t.Helper()
	entered := make(chan time.Time, 1)
	go func() {
		h := lockOf(t, l)
		at := time.Now()
		mustUnlock(t, h)
		entered <- at
	}()
	awaitListening(t, c, l.Name())
	awaitNoAttempt(t, c, l.Name())
	return entered
}

// A forced unlock of a missing key publishes nothing. The holder is another client: this client would learn of the loss of a
// hold of its own sooner or later, and then wake its waiter.
func TestForcedUnlockOfNothingWakesWhoWaitsHere(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, other := open(t, s), open(t, s, WithWatchdogTimeout(time.Hour))
	l := c.NewLock("orders")
	lockOf(t, other.NewLock("orders"))
	entered := waits(t, c, l)
	if _, err := s.Dial(t).Do("DEL", l.Name()); err != nil {
		t.Fatal(err)
	}
	if forced, err := l.ForceUnlock(t.Context()); forced || err != nil {
		t.Fatalf("forced %v, %v", forced, err)
	}
	<-entered // its acquire ends before it would poll by itself, after a minute
}

// A nested hold outlives the outer one, and its lease ends by itself, without an unlock.
func TestWaiterHearsOfTheEndOfANestedLease(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a lease ends")
	c := open(t, redistest.Start(t), WithWatchdogTimeout(time.Hour))
	l := c.NewLock("orders")
	outer := lockOf(t, l)
	lockOf(t, l, As(outer.Owner()), Lease(soon))
	entered := waits(t, c, l)
	mustUnlock(t, outer)
	<-entered
}

var maxHandOffs = kind.Reentrant.Traits().HandOffs

// The key is deleted under the holder whose unlock does not hand the lock on. So the waiters rely on a message that an
// unlock of a missing key does not publish.
func TestUnlockOfNothingWakesWhoWaitsHere(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithWatchdogTimeout(time.Hour))
	l := c.NewLock("orders")
	conn := s.Dial(t)
	h := lockOf(t, l)
	entered := make(chan *Hold)
	for range maxHandOffs + 8 {
		go func() { entered <- lockOf(t, l) }()
	}
	awaitListening(t, c, l.Name())
	awaitQueued(t, l, maxHandOffs+8)
	for n := range maxHandOffs + 8 {
		if n >= maxHandOffs-2 && n <= maxHandOffs+2 {
			if _, err := conn.Do("DEL", l.Name()); err != nil {
				t.Fatal(err)
			}
		}
		_ = h.Unlock(context.Background()) // ErrNotHeld if the key is gone
		h = <-entered
	}
	mustUnlock(t, h)
}

// Another client's ForceUnlock took the hold away, unnoticed so far. A caller that comes after a hand-off must not wait for
// that hold's end.
func TestCallerDoesNotWaitForAHoldThatWasForced(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, other := open(t, s, WithWatchdogTimeout(time.Hour)), open(t, s)
	l := c.NewLock("orders")
	for _, opts := range [][]AcquireOption{nil, {Lease(time.Hour)}, {Lease(time.Hour)}} {
		lockOf(t, l, opts...)
		entered := make(chan *Hold)
		for range 2 {
			go func() { entered <- lockOf(t, l) }()
		}
		awaitQueued(t, l, 2)
		awaitListening(t, c, l.Name())
		awaitNoAttempt(t, c, l.Name())
		if forced, err := other.NewLock("orders").ForceUnlock(t.Context()); !forced || err != nil {
			t.Fatal(forced, err)
		}
		mustUnlock(t, <-entered)
		mustUnlock(t, <-entered)
		mustUnlock(t, lockOf(t, l))
	}
}

// The last waiter that got a hand-off has just left the queue, which is still subscribed. The client ignores its own
// message, so a new caller must try at once.
func TestCallerAfterHandOffsTriesAtOnce(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t), WithWatchdogTimeout(time.Hour))
	l := c.NewLock("orders")
	for range 3 {
		h := lockOf(t, l)
		entered := make(chan *Hold)
		for range 2 {
			go func() { entered <- lockOf(t, l) }()
		}
		awaitQueued(t, l, 2)
		awaitListening(t, c, l.Name())
		awaitNoAttempt(t, c, l.Name())
		mustUnlock(t, h)
		mustUnlock(t, <-entered)
		mustUnlock(t, <-entered)
		mustUnlock(t, lockOf(t, l))
	}
}

// onlyOne lends one connection, for the commands, and has none for the subscription.
type onlyOne struct {
	addr string
	lent atomic.Bool
}

func (p *onlyOne) GetContext(ctx context.Context) (redis.Conn, error) {
	if p.lent.Swap(true) {
		return nil, errors.New("no more connections")
	}
	return redis.DialContext(ctx, "tcp", p.addr)
}

// A client hands the lock on to its own callers a limited number of times; then others get their chance by the message. If
// no message can come, its callers must not wait for the end of a lease.
func TestClientsOwnUnlocksAreEnoughWithoutASubscription(t *testing.T) {
	t.Parallel()
	c, err := New(&onlyOne{addr: redistest.Start(t).Addr()}, WithWatchdogTimeout(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock("orders")
	h := lockOf(t, l)
	var all sync.WaitGroup
	for range 3 * maxHandOffs {
		all.Go(func() { mustUnlock(t, lockOf(t, l)) })
	}
	awaitQueued(t, l, 3*maxHandOffs)
	awaitNoAttempt(t, c, l.Name())
	mustUnlock(t, h)
	all.Wait()
}
