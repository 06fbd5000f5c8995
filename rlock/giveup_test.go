package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
)

// nowhere has no connections.
type nowhere struct{}

func (nowhere) GetContext(context.Context) (redis.Conn, error) {
	return nil, errors.New("no connection")
}

// A caller whose context ends while its answer comes gets an error that names call and lock, as any other does.
func TestContextThatEndsWithTheAnswerIsNamed(t *testing.T) {
	c, err := New(nowhere{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := c.NewLock("orders")
	s := l.shard()
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		w := waiters.Get().(*waiter)
		s.lock()
		w.n = s.pin(l)
		w.n.ensureQueue().JoinUnqueued(c.now(), &w.Waiter)
		w.fail(ErrLocked)
		w.n.step()
		_, err := w.giveUp(cause)
		w.n.unpin()
		s.unlock()
		if !errors.Is(err, cause) || !errors.Is(err, ErrLocked) {
			t.Errorf("%v", err)
		}
		if text := err.Error(); !strings.HasPrefix(text, `rlock: acquire "orders": `) || strings.Count(text, "rlock:") != 1 {
			t.Errorf("%q", text)
		}
	}
}

// The last answer was not "taken", so the wait that elapses with it must not say so.
func TestA6GrantThatComesWithTheEndOfTheWaitIsTheCallers(t *testing.T) {
	c := open(t, redistest.Start(t))
	l := c.NewLock("orders")
	settled := func(ctx context.Context) *waiter {
		w, err := l.startAcquire(ctx, false, time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		for len(w.ready) == 0 { // the caller has not looked yet
			time.Sleep(time.Millisecond)
		}
		return w
	}
	first := settled(t.Context())
	ready := first.ready
	h, err := first.result(t.Context(), ErrLocked)
	if err != nil || h.Err() != nil {
		t.Fatalf("a free lock: %v", err)
	}
	if len(ready) > 0 {
		t.Fatal("the next call that uses the waiter is woken by this one's grant")
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A context that has ended as well has the last word (A4).
	ctx, cancel := context.WithCancel(t.Context())
	w := settled(ctx)
	cancel()
	if h, err := w.result(ctx, ErrLocked); h != nil || !errors.Is(err, context.Canceled) || errors.Is(err, ErrLocked) {
		t.Errorf("%v, %v", h, err)
	}
}
