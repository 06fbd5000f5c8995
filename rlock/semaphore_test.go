package rlock

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// rooms returns a semaphore with n permits.
func rooms(t *testing.T, c *Client, n int) *Semaphore {
	t.Helper()
	s := c.NewSemaphore("rooms")
	if first, err := s.TrySetPermits(t.Context(), n); !first || err != nil {
		t.Fatalf("to set the permits: %v, %v", first, err)
	}
	return s
}

// roomsAre checks how many permits are free.
func roomsAre(t *testing.T, s *Semaphore, want int) {
	t.Helper()
	if free, err := s.Available(context.Background()); free != want || err != nil {
		t.Errorf("%d are free, %v; want %d", free, err, want)
	}
}

func TestNeverMorePermitsOfNobodyThanThereAre(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	sems := []*Semaphore{rooms(t, open(t, s), 3), open(t, s).NewSemaphore("rooms")}
	neverMoreThan3(t, func(i, n int, fn func(context.Context) error) error { return sems[i%2].Do(context.Background(), n, fn) })
	roomsAre(t, sems[0], 3)
	nothingButLeft(t, conn, "rooms")
}

func TestPermitsOfNobodyAreReleasedHoweverDoEnds(t *testing.T) {
	t.Parallel()
	sem := rooms(t, open(t, redistest.Start(t)), 3)
	failed := errors.New("no towels")
	ctx, cancel := context.WithCancel(t.Context())
	if err := sem.Do(ctx, 2, func(context.Context) error { cancel(); return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	roomsAre(t, sem, 3)
	func() {
		defer func() {
			if recover() != "fire" {
				t.Error("the panic is gone")
			}
		}()
		_ = sem.Do(t.Context(), 2, func(context.Context) error { panic("fire") })
	}()
	roomsAre(t, sem, 3)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = sem.Do(context.Background(), 2, func(context.Context) error { runtime.Goexit(); return nil })
	}()
	<-done
	roomsAre(t, sem, 3)
	if err := sem.Do(ctx, 2, func(context.Context) error { t.Error("it ran"); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	roomsAre(t, sem, 3)
}

func TestWaiterForFewPermitsPassesOneWhoWantsMany(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	sem, other := rooms(t, open(t, s), 2), open(t, s).NewSemaphore("rooms")
	if err := sem.Acquire(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	many, few := make(chan error, 1), make(chan error, 1)
	go func() { many <- other.Acquire(context.Background(), 3) }()
	awaitWaiting(t, &other.lock, 1)
	go func() { few <- other.Acquire(context.Background(), 2) }()
	awaitWaiting(t, &other.lock, 2)
	if err := sem.Release(t.Context(), 2); err != nil {
		t.Error(err)
	}
	if err := <-few; err != nil {
		t.Error(err)
	}
	if err := errors.Join(sem.Release(t.Context(), 2), sem.AddPermits(t.Context(), 1), <-many); err != nil {
		t.Error(err)
	}
	roomsAre(t, sem, 0)
}

func TestNumbersThatCannotBe(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	sem, permits, latch, ctx := c.NewSemaphore("rooms"), c.NewPermitSemaphore("seats"), c.NewCountDownLatch("ready"), t.Context()
	set := func(n int, e ...SetOption) error { _, err := sem.TrySetPermits(ctx, n, e...); return err }
	tooMany := math.MaxInt32
	tooMany++ // on a 32-bit platform it is below zero, which is no number of permits either
	for what, err := range map[string]error{
		"none":                      sem.Acquire(ctx, 0),
		"fewer":                     sem.TryAcquire(ctx, -1),
		"fewer in time":             sem.TryAcquireFor(ctx, -1, time.Second),
		"none back":                 sem.Release(ctx, 0),
		"fewer back":                func() error { _, err := sem.ReleaseIfExists(ctx, -1); return err }(),
		"more than an int":          sem.Acquire(ctx, tooMany),
		"below none":                set(-1),
		"no time":                   set(1, Expire(0)),
		"nil":                       set(1, nil),
		"two waits":                 sem.Acquire(ctx, 1, Wait(0), Wait(0)),
		"a nil option":              sem.Do(ctx, 1, nil, nil),
		"two times":                 set(1, Expire(time.Hour), Expire(time.Hour)),
		"too many more":             sem.AddPermits(ctx, tooMany),
		"too many at first":         set(tooMany),
		"too many permits at first": func() error { _, err := permits.TrySetPermits(ctx, tooMany); return err }(),
		"too many permits":          permits.SetPermits(ctx, tooMany),
		"too many more permits":     permits.AddPermits(ctx, tooMany),
		"too many fewer permits":    permits.AddPermits(ctx, math.MinInt32),
		"fewer permits than none":   permits.SetPermits(ctx, -1),
		"no function":               sem.Do(ctx, 0, nil),
		"no count":                  func() error { _, err := latch.TrySetCount(ctx, 0); return err }(),
	} {
		if !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n, err := s.Dial(t).Do("DBSIZE"); n != int64(0) || err != nil {
		t.Errorf("%v keys, %v", n, err)
	}
	c.Close()
	_, err := latch.Count(ctx)
	for what, err := range map[string]error{"Acquire": sem.Acquire(ctx, 1), "Release": sem.Release(ctx, 1), "Await": latch.Await(ctx), "Count": err} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s of a closed client: %v", what, err)
		}
	}
}

func TestLatchOpensForAll(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s).NewCountDownLatch("ready"), open(t, s).NewCountDownLatch("ready")
	if set, err := a.TrySetCount(t.Context(), 2); !set || err != nil {
		t.Fatal(set, err)
	}
	if set, err := b.TrySetCount(t.Context(), 9); set || err != nil {
		t.Errorf("set twice: %v, %v", set, err)
	}
	if err := b.AwaitFor(t.Context(), 0); !errors.Is(err, ErrNotOpen) {
		t.Errorf("a look: %v", err)
	}
	if err := b.AwaitFor(t.Context(), time.Second); !errors.Is(err, ErrNotOpen) {
		t.Errorf("a moment: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 10)
	for i := range 10 {
		go func() { opened <- []*CountDownLatch{a, b}[i%2].Await(context.Background()) }()
	}
	left := make(chan error)
	go func() { left <- a.Await(ctx) }()
	becomes(t, "they wait", func() bool {
		x, y := a.lock.l.Snapshot(), b.lock.l.Snapshot()
		return x.Waiting == 6 && y.Waiting == 5 && x.Listening && y.Listening
	})
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := b.CountDown(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := a.Count(t.Context()); n != 1 || err != nil || len(opened) > 0 {
		t.Errorf("a count of %d, %v, and %d came through", n, err, len(opened))
	}
	if err := a.CountDown(t.Context()); err != nil {
		t.Error(err)
	}
	for range 10 {
		if err := <-opened; err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(a.CountDown(t.Context()), a.Await(t.Context())); err != nil {
		t.Errorf("of an open latch: %v", err)
	}
	becomes(t, "nothing is left", func() bool { n, err := conn.Do("DBSIZE"); return n == int64(0) && err == nil })
}

// A poll every second makes up for a lost message.
func TestLatchAndSemaphoreAreLookedAt(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	latch, sem := c.NewCountDownLatch("ready"), c.NewSemaphore("rooms")
	if set, err := latch.TrySetCount(t.Context(), 1); !set || err != nil {
		t.Fatal(set, err)
	}
	done := make(chan error, 2)
	go func() { done <- latch.Await(context.Background()) }()
	go func() { done <- sem.Acquire(context.Background(), 1) }()
	becomes(t, "they wait", func() bool {
		x, y := latch.lock.l.Snapshot(), sem.lock.l.Snapshot()
		return x.Waiting == 1 && y.Waiting == 1 && x.Listening && y.Listening && !x.InFlight && !y.InFlight
	})
	for _, args := range [][]any{{"ready"}, {"rooms", 1}} {
		if _, err := conn.Do([]string{"DEL", "SET"}[len(args)-1], args...); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * soon):
			t.Fatal("nobody looks")
		}
	}
}
