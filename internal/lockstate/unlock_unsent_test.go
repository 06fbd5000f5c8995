package lockstate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/redistest"
)

// A send that can't be answered in time would turn "nothing has run" into "uncertain".
func TestUnlockIsNotTriedTooLate(t *testing.T) {
	t.Parallel()
	const timeout = time.Minute
	o := config()
	o.Timeout = timeout
	c := openWith(t, redistest.Start(t), o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	now := c.Now()
	for what, row := range map[string]struct {
		limit, leaves, after, first time.Duration
		want                        bool
	}{
		"there is time":                 {limit: now + timeout},
		"its limit comes":               {limit: now + timeout/20, want: true},
		"it comes after the pause":      {limit: now + timeout, after: timeout - timeout/20, want: true},
		"it has passed, and none knows": {limit: now - timeout, want: true},
		"its caller leaves":             {limit: now + timeout, leaves: now + timeout/20, want: true},
		"it may have run before":        {limit: now + timeout/20, first: now},
	} {
		r := &releasing{st: h.st, l: &l, leaves: row.leaves}
		r.Limit, r.req.First = row.limit, row.first
		if got := r.tooLate(row.after); got != row.want {
			t.Errorf("%s: too late: %t", what, got)
		}
	}
	unlock(t, h)
}

// The connection is lost and the next one is not ready, so the unlock waits to be written. Its
// caller, whose context has ended, learns that nothing was sent. The unlock is sent later.
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
	if _, err := c.Query(t.Context(), l.Slot, kind.Read("TYPE", "orders")); err == nil {
		t.Fatal("the server answered")
	}
	redistest.Becomes(t, "an attempt to connect anew fails", func() bool {
		_, _ = c.Query(t.Context(), l.Slot, kind.Read("TYPE", "orders"))
		return c.Exec.Trouble(l.Slot) != nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Unlock(ctx); err == nil || errors.Is(err, lockerr.ErrUncertain) {
		t.Errorf("nothing of it was sent, and it says %v", err)
	}
	if says := c.unwritten().Error(); !strings.Contains(says, "the unlock was not sent within 300ms; the key expires by itself") {
		t.Errorf("without any trouble it says %s", says)
	}
	s.Resume()
	conn := s.Dial(t)
	becomes(t, conn, 0, "EXISTS", "orders")
}
