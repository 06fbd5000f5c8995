package locks

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// If a caller's context ends while the answer arrives, its error contains both.
func TestContextThatEndsWithTheAnswerIsToldBeside(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		w := NewWaiter(&l)
		w.Terms.HasWait = true // one attempt, which is refused
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		redistest.Becomes(t, "the answer is there", func() bool { return w.snapshot().ended })
		_, err := w.Result(t.Context(), cause)
		if !errors.Is(err, cause) || !errors.Is(err, ErrLocked) {
			t.Errorf("%v", err)
		}
		if text := err.Error(); strings.Contains(text, "rlock:") {
			t.Errorf("%q: the caller names itself", text)
		}
	}
	mustUnlock(t, h)
}

// The last answer was a grant, so a wait that elapses at that moment must not end in "taken".
func TestA6GrantThatComesWithTheEndOfTheWaitIsTheCallers(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	settled := func() *Waiter {
		w := NewWaiter(&l)
		w.Terms.Wait, w.Terms.HasWait = time.Minute, true
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		redistest.Becomes(t, "it is granted", func() bool { return w.snapshot().ended })
		return w
	}
	first := settled()
	h, err := first.Result(t.Context(), ErrLocked)
	if err != nil || h.Err() != nil {
		t.Fatalf("a free lock: %v", err)
	}
	if NewWaiter(&l).snapshot().ended {
		t.Fatal("the next call that uses the waiter is woken by this one's grant")
	}
	if err := Unlock(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	// If the context has ended as well, its error wins (A4).
	ctx, cancel := context.WithCancel(t.Context())
	w := settled()
	cancel()
	if h, err := w.Result(ctx, ErrLocked); h != nil || !errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked) {
		t.Errorf("%v, %v", h, err)
	}
}

// acquires is an observer of acquires, and of nothing else.
type acquires struct{ observe.Observer }

func (acquires) OnPanic(func(any))  {}
func (acquires) Calls() bool        { return false }
func (acquires) Commands() bool     { return false }
func (acquires) Tell(observe.Event) {}

// endings is an observer of acquires, and counts holds that end.
type endings struct {
	acquires
	n atomic.Int32
}

func (e *endings) Tell(event observe.Event) {
	if event.Of == observe.HoldEnded {
		e.n.Add(1)
	}
}

// The watchdog is closed by then, so the hold can't be trusted. But nobody had it.
func TestGrantThatComesDuringCloseIsNoLoss(t *testing.T) {
	t.Parallel()
	s, o, e := redistest.Start(t), config(), new(endings)
	o.Observer = e
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	mustUnlock(t, mustAcquire(t, &l)) // connects
	before := e.n.Load()
	s.Pause()
	ended := make(chan outcome, 1)
	w := wait(t.Context(), t, &l, 0, ended, Terms{})
	redistest.Becomes(t, "its attempt is written", func() bool { return w.snapshot().written })
	noWatchdog := make(chan struct{})
	c.timers.After(time.Hour, func() { close(noWatchdog) }) // Close runs it once it has closed the watchdog
	go c.Close()
	<-noWatchdog
	s.Resume()
	c.Close()
	if got := <-ended; !errors.Is(got.err, ErrClosed) {
		t.Errorf("%v, %v", got.hold, got.err)
	}
	all, _, _ := c.Stats()
	if n := e.n.Load(); n != before || all[l.Traits.Label].Lost != (Counts{}).Lost {
		t.Errorf("%d holds ended; lost: %v", n-before, all[l.Traits.Label].Lost)
	}
	becomes(t, s.Dial(t), 0, "EXISTS", "orders")
}

// Its caller tells the observer without the shard's mutex, so nothing may change what is told.
func TestAnswerAfterTheCallerHasLeftChangesNothingForTheObserver(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	held := open(t, s).NewLock(kind.Reentrant, "orders", "orders")
	mustAcquire(t, &held)
	o := config()
	o.Observer = acquires{}
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	if _, err := c.Query(t.Context(), l.slot, kind.Read("TYPE", "orders")); err != nil { // connects
		t.Fatal(err)
	}
	s.Pause()
	defer s.Resume()
	ctx, cancel := context.WithCancel(t.Context())
	w := NewWaiter(&l)
	if err := w.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "its attempt is written", func() bool { return w.snapshot().written })
	cancel()
	if _, err := w.Result(ctx, w.Await(ctx)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.Resume()
	redistest.Becomes(t, "the attempt has ended", func() bool { return c.work.Count() == 0 })
	if w.snapshot().contended {
		t.Error("the answer changed what the observer is told")
	}
}
