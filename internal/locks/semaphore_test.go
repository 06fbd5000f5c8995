package locks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// numberRig is a semaphore or a latch whose replies can be lost.
type numberRig struct {
	*permitRig
	of func(n int) Lock
}

func newNumberRig(t *testing.T) *numberRig {
	r := newPermitRig(t)
	return &numberRig{r, func(n int) Lock { return r.c.NewLock(kind.Semaphore(n), "seats", "seats") }}
}

// take takes n permits.
func (r *numberRig) take(n int) {
	r.Helper()
	l := r.of(n)
	ended := make(chan outcome, 1)
	wait(r.Context(), r.T, &l, 0, ended, Terms{Size: n})
	if o := next(r.T, ended); o.hold != nil {
		r.Error("somebody holds it")
	}
}

// change changes the semaphore, and returns the reply.
func (r *numberRig) change(how string, n int) int64 {
	r.Helper()
	l := r.of(1)
	reply, err := Change(r.Context(), &l, true, func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, how, n, 0) })
	if err != nil {
		r.Fatal(err)
	}
	did, err := luasrc.DecodeNumber(reply)
	if err != nil {
		r.Fatal(err)
	}
	return did
}

// become waits until that many permits are free and no receipt is left. It deletes the key that
// records that the semaphore was set.
func (r *numberRig) become(free string) {
	r.Helper()
	do(r.T, r.conn, "DEL", codec.Latch("seats", "begun"))
	becomes(r.T, r.conn, 1, "DBSIZE")
	if got, err := redis.String(do(r.T, r.conn, "GET", "seats"), nil); got != free || err != nil {
		r.Errorf("%q are free, %v; want %s", got, err, free)
	}
}

func TestSemaphoreIsExactThoughRepliesAreLost(t *testing.T) {
	t.Parallel()
	r := newNumberRig(t)
	r.loses(luasrc.SemaphoreChangeScript, func() {
		if r.change(luasrc.SetFirst, 4) != 1 {
			t.Error("it was there")
		}
	})
	r.become("4")
	r.loses(luasrc.SemaphoreAcquireScript, func() { r.take(3) }) // the first grant is undone
	r.become("1")
	r.loses(luasrc.SemaphoreChangeScript, func() { r.change(luasrc.GiveBack, 3) })
	r.become("4")
	r.loses(luasrc.SemaphoreChangeScript, func() { r.change(luasrc.AddMore, -2) })
	r.become("2")
	// The reply of the undo is lost as well.
	r.take(1)
	ended := make(chan outcome, 1)
	r.d.drop(luasrc.SemaphoreAcquireScript.SHA1)
	before := r.d.lost.Load()
	l := r.of(1)
	wait(t.Context(), t, &l, 0, ended, Terms{Size: 1})
	redistest.Becomes(t, "something is lost", func() bool { return r.d.lost.Load() > before })
	r.d.drop(luasrc.SemaphoreUndoScript.SHA1)
	next(t, ended)
	r.become("0")
	r.loses(luasrc.SemaphoreChangeScript, func() {
		r.change(luasrc.GiveBack, 2)
		if n := r.change(luasrc.DrainAll, 0); n != 2 {
			t.Errorf("drained %d", n)
		}
	})
	r.become("0")
	r.loses(luasrc.SemaphoreChangeScript, func() {
		if r.change(luasrc.DeleteAll, 0) != 1 {
			t.Error("it was not there")
		}
	})
	becomes(t, r.conn, 0, "DBSIZE")
}

func TestPermitsOfNobodyAreGivenBackThatNobodyWants(t *testing.T) {
	t.Parallel()
	r := newNumberRig(t)
	r.change(luasrc.SetFirst, 2)
	r.take(2)
	r.change(luasrc.GiveBack, 2)
	two := r.of(2)
	leaves := func(when func(waiterSnapshot) bool, meanwhile func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		w := NewWaiter(&two)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		redistest.Becomes(t, "the moment", func() bool {
			return when(w.snapshot())
		})
		cancel()
		meanwhile()
		if h, err := w.Result(ctx, w.Await(ctx)); h != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v", h, err)
		}
	}
	nothing := func() {}
	given := func(when string) {
		t.Helper()
		if r.become("2"); t.Failed() {
			t.Fatal(when)
		}
	}
	leaves(func(now waiterSnapshot) bool { return now.taken }, nothing)
	given("the grant is there")
	r.server.Pause()
	leaves(func(now waiterSnapshot) bool { return now.written }, nothing)
	r.server.Resume()
	r.change(luasrc.GiveExisting, 1) // answered after the acquire
	r.change(luasrc.AddMore, -1)
	given("the grant is under way")
	// Close waits for a caller that has a grant and has not run since.
	leaves(func(now waiterSnapshot) bool { return now.taken }, func() {
		if _, commands := r.c.UnderWay(); commands != 1 {
			t.Errorf("%d are under way", commands)
		}
		go r.c.Close()
		redistest.Becomes(t, "the client is being closed", r.c.Closed)
	})
	r.c.Close()
	given("the grant is there, and the client is being closed")
}

// counting is an observer that counts what is under way when it is told of an acquire.
type counting struct {
	acquires
	left func() int
	seen int
}

func (c *counting) Tell(e observe.Event) {
	if e.Of == observe.CallAcquired {
		c.seen = c.left()
	}
}

// An observer may call Close, which waits for what is under way.
func TestObserverIsToldOfPermitsThatCountNoMore(t *testing.T) {
	t.Parallel()
	s, o, e := redistest.Start(t), config(), new(counting)
	o.Observer = e
	c := openWith(t, s, o)
	e.left = func() int { _, commands := c.UnderWay(); return commands }
	do(t, s.Dial(t), "SET", "seats", 2)
	l := c.NewLock(kind.Semaphore(1), "seats", "seats")
	w := NewWaiter(&l)
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Result(t.Context(), w.Await(t.Context())); err != nil || e.seen != 0 {
		t.Errorf("%v; %d are under way", err, e.seen)
	}
}

// A caller whose wait elapses when the grant is there gets it.
func TestGrantAtTheEndOfAWaitIsKept(t *testing.T) {
	t.Parallel()
	r := newNumberRig(t)
	r.change(luasrc.SetFirst, 2)
	l := r.of(2)
	w := NewWaiter(&l)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "the grant is there", func() bool { return w.snapshot().ended })
	if h, err := w.Result(t.Context(), l.Taken()); h != nil || err != nil {
		t.Fatalf("%v, %v", h, err)
	}
	r.become("0")
}

// Of all waiters for the same number of permits, one looks, once a second.
func TestWaitersForAsManyPermitsLookOnce(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "looks are counted for some seconds")
	r := newNumberRig(t)
	do(t, r.conn, "SET", "seats", 1)
	ended := make(chan outcome, 9)
	two, three := r.of(2), r.of(3)
	for i := range 9 {
		l, n := &two, 2
		if i%3 == 0 {
			l, n = &three, 3
		}
		wait(t.Context(), t, l, i, ended, Terms{Size: n})
	}
	redistest.Becomes(t, "they wait", func() bool {
		s := two.Snapshot()
		return s.Listening && !s.InFlight && s.Waiting == 9
	})
	tap := monitor.Tap(t, r.server.URL())
	do(t, r.conn, "PUBLISH", "redisson_sc:{seats}", 9)
	// The waiter for three is refused, then the first waiter for two. No other one asks.
	redistest.Becomes(t, "somebody looks", func() bool {
		return !two.Snapshot().InFlight && asked(tap.Mark(), luasrc.SemaphoreAcquireScript) > 0
	})
	tap.Mark()
	from := time.Now()
	time.Sleep(3 * time.Second)
	looks, passed := asked(tap.Mark(), luasrc.SemaphoreAcquireScript), time.Since(from)
	if most := 2 * (int(passed/(800*time.Millisecond)) + 2); looks < 1 || looks > most {
		t.Errorf("%d looks in %v; at most %d", looks, passed, most)
	}
	none(t, ended)
	do(t, r.conn, "SET", "seats", 3*3+6*2) // without a message
	for range 9 {
		next(t, ended)
	}
	r.become("0")
}

func TestLatchIsExactThoughRepliesAreLost(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t)
	l := r.c.NewLock(kind.CountDownLatch, "ready", "ready")
	set := func(want bool, how string, n int64) {
		t.Helper()
		r.loses(luasrc.CountDownScript, func() {
			reply, err := Change(t.Context(), &l, false, func(w *kind.Want) kind.Call { return kind.CountDown(w, how, n) })
			if err != nil {
				t.Fatal(err)
			}
			if did, err := luasrc.DecodeExists(reply); did != want || err != nil {
				t.Errorf("%s: %v, %v", how, did, err)
			}
		})
	}
	set(true, luasrc.SetCount, 3)
	set(false, luasrc.SetCount, 1)
	set(true, luasrc.DownByOne, 0)
	becomes(t, r.conn, 1, "DBSIZE")
	if n, err := redis.String(do(t, r.conn, "GET", "ready"), nil); n != "2" || err != nil {
		t.Errorf("the count is %q, %v", n, err)
	}
	ended := make(chan outcome, 1)
	wait(t.Context(), t, &l, 0, ended, Terms{})
	set(true, luasrc.DownByOne, 0)
	none(t, ended)
	set(true, luasrc.DownByOne, 0)
	next(t, ended)
	becomes(t, r.conn, 0, "DBSIZE")
	set(true, luasrc.SetCount, 1)
	set(true, luasrc.DeleteCount, 0)
	becomes(t, r.conn, 0, "DBSIZE")
}

func TestLatchThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	do(t, s.Dial(t), "SET", "ready", 1)
	l := c.NewLock(kind.CountDownLatch, "ready", "ready")
	w := NewWaiter(&l)
	w.Terms = Terms{HasWait: true}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Result(t.Context(), w.Await(t.Context())); !errors.Is(err, ErrNotOpen) || errors.Is(err, ErrLocked) {
		t.Errorf("a look: %v", err)
	}
}
