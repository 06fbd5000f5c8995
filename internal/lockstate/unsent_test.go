package lockstate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
)

// The connection is lost, and the next one is not there: the unlock waits to be
// written. Its caller, whose context is over, is told that, and it is sent later.
func TestUnlockThatIsNotWrittenIsNotUncertain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Timeout = 300 * time.Millisecond
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	s.Pause()
	defer s.Resume()
	if _, err := c.query(t.Context(), l.slot, kind.Read("TYPE", "orders")); err == nil {
		t.Fatal("the server answered")
	}
	for end := time.Now().Add(10 * soon); c.exec.Trouble(l.slot) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no attempt to connect anew has failed")
		}
		_, _ = c.query(t.Context(), l.slot, kind.Read("TYPE", "orders"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Unlock(ctx); err == nil || errors.Is(err, ErrUncertain) {
		t.Errorf("nothing of it was sent, and it says %v", err)
	}
	s.Resume()
	conn := s.Dial(t)
	for end := time.Now().Add(10 * soon); do(t, conn, "EXISTS", "orders") != int64(0); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is not released in the background")
		}
	}
}
