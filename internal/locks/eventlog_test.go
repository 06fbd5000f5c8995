package locks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A handler is the caller's code. It may look at the hold that a line is about, so the hold's shard must be unlocked.
func TestLinesAreToldWithoutTheShardsMutex(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	d := &dropper{addr: s.Addr(), lost: new(atomic.Int32)}
	o := config()
	o.Topology, o.LongHold = dials(d.connect).topology, time.Millisecond
	var l Lock
	var mu sync.Mutex
	told := map[string]bool{} // the lines so far; false: of one the mutex was not free
	o.Logger = slog.New(handlerFunc(func(line string) {
		if l.shard == nil {
			return
		}
		entered := make(chan struct{})
		go func() {
			l.shard.enter(mustNotBlock).leave()
			close(entered)
		}()
		free := false
		select {
		case <-entered:
			free = true
		case <-time.After(soon):
		}
		mu.Lock()
		defer mu.Unlock()
		told[line] = free
	}))
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l = c.NewLock(kind.Reentrant, "orders", "orders")

	becomesTold := func(line string) {
		t.Helper()
		redistest.Becomes(t, line+" is told", func() bool {
			mu.Lock()
			defer mu.Unlock()
			_, is := told[line]
			return is
		})
	}
	h := mustAcquire(t, &l)
	becomesTold("held long")
	if _, err := ForceUnlock(t.Context(), &l); err != nil {
		t.Fatal(err)
	}
	if err := Unlock(t.Context(), h); !errors.Is(err, ErrLeaseLost) {
		t.Fatal(err)
	}
	becomesTold("lease lost")
	do(t, conn, "SET", "seats", 1)
	seats := c.NewLock(kind.Semaphore(1), "seats", "seats") // a lock's acquire would be sent again
	d.drop("EVAL")                                          // of the acquire
	taking := NewWaiter(&seats)
	if err := taking.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := taking.Result(t.Context(), taking.Await(t.Context())); err != nil {
		t.Fatal(err)
	}
	becomesTold("acquire undone")
	left, leave := context.WithCancel(t.Context())
	w := NewWaiter(&l)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "it is granted", func() bool { return do(t, conn, "EXISTS", "orders") == int64(1) })
	leave()
	if _, err := w.Result(left, left.Err()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	becomesTold("given back")
	for line, free := range told {
		if !free {
			t.Errorf("%q was told with the mutex held", line)
		}
	}
}

// handlerFunc is a handler that calls a function for each line.
type handlerFunc func(line string)

func (handlerFunc) Enabled(context.Context, slog.Level) bool        { return true }
func (f handlerFunc) Handle(_ context.Context, r slog.Record) error { f(r.Message); return nil }
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler            { return f }
func (f handlerFunc) WithGroup(string) slog.Handler                 { return f }
