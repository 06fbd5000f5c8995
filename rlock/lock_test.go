package rlock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// open opens a client of a server, and closes it at the end of the test.
func open(t testing.TB, s *redistest.Server, opts ...Option) *Client {
	t.Helper()
	c, err := Open(context.Background(), s.URL(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// awaitListening waits until c is subscribed for its waiters of key.
func awaitListening(t testing.TB, c *Client, key string) {
	t.Helper()
	l := c.NewLock(key)
	becomes(t, "somebody listens", func() bool { return l.l.Snapshot().Listening })
}

func TestLockAndUnlock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock("orders")
	h, err := l.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := l.HoldCount(t.Context(), h.Owner()); n != 1 || err != nil {
		t.Fatalf("hold count %d, %v", n, err)
	}
	if _, err := l.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Fatalf("second owner: %v", err)
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if locked, err := l.IsLocked(t.Context()); locked || err != nil {
		t.Fatalf("locked %v, %v", locked, err)
	}
	if err := h.Unlock(t.Context()); !errors.Is(err, ErrReleased) {
		t.Fatalf("second unlock: %v", err)
	}
}

func TestGoroutinesExcludeEachOther(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock("counter")
	total := 0
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 100 {
				err := l.Do(context.Background(), func(context.Context) error {
					total++
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
	if total != 1600 {
		t.Fatalf("counted %d", total)
	}
}

func TestMessageWakesWaiterOfAnotherClient(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	h, err := a.NewLock("x").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A third of the lease: the end of the lease would let the waiter in as well.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got := make(chan *Hold, 1)
	go func() {
		h, err := b.NewLock("x").Lock(ctx)
		if err != nil {
			t.Error(err)
		}
		got <- h
	}()
	awaitListening(t, b, "x")
	start := time.Now()
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	h2 := <-got
	if h2 == nil {
		t.Fatal("not woken by the message")
	}
	t.Log("woken after", time.Since(start))
	if err := h2.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkPair(b *testing.B) {
	s := redistest.Start(b)
	c := open(b, s)
	l := c.NewLock("x")
	b.ReportAllocs()
	for b.Loop() {
		h, err := l.Lock(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Unlock(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
