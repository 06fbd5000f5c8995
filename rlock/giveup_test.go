package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
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
		err := w.giveUp(cause)
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
