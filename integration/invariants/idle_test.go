package invariants

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A server closes idle connections when it likes. Nobody's call may end with an error for it, whether the client has
// seen the end of its connection by then or not.
func TestA5IdleCloseIsNobodysError(t *testing.T) {
	t.Parallel()
	for _, notice := range []time.Duration{0, 3 * time.Millisecond} {
		t.Run(fmt.Sprint("noticed for ", notice), func(t *testing.T) {
			r := newRig(t)
			r.latchesMayStay = true // the server may close a connection with their DEL on it
			c := r.openSlow()
			l := c.NewLock(name)
			idleClose := func() {
				r.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
				spin(notice)
			}
			for i := range 50 {
				idleClose()
				h, err := l.Lock(t.Context())
				if err != nil {
					t.Fatalf("%d: Lock: %v", i, err)
				}
				idleClose()
				if locked, err := l.IsLocked(t.Context()); err != nil || !locked {
					t.Fatalf("%d: IsLocked: %v, %v", i, locked, err)
				}
				idleClose()
				if err := h.Unlock(t.Context()); err != nil {
					t.Fatalf("%d: Unlock: %v", i, err)
				}
				if !r.Free(name) {
					t.Fatalf("%d: left %v", i, r.fields(name))
				}
				idleClose()
				if h, err = l.TryLock(t.Context()); err != nil {
					t.Fatalf("%d: TryLock: %v", i, err)
				}
				r.heldOnlyBy(name, h.Owner(), 1)
				idleClose()
				again, err := l.Lock(t.Context(), rlock.As(h.Owner()))
				if err != nil {
					t.Fatalf("%d: Lock with As: %v", i, err)
				}
				r.heldOnlyBy(name, h.Owner(), 2)
				unlock(t, again, h)
			}
		})
	}
}

// The same by the server's own clock.
func TestA5ServersIdleTimeoutIsNobodysError(t *testing.T) {
	r := newRig(t)
	l := r.openSlow().NewLock(name)
	for range 2 {
		h := lock(t, l)
		before := r.Connections()
		r.Do("CONFIG", "SET", "timeout", 3) // the rig must not be idle for so long
		// It may have another one already: what is held is renewed at once.
		r.Becomes("the server closed the client's connection", func() bool { return r.Clients() == 0 || r.Connections() > before })
		r.Do("CONFIG", "SET", "timeout", 0)
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
