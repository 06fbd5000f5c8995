package invariants

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestH4HoldOutlivesTheContextThatBoundedTheWait(t *testing.T) {
	r := newRig(t)
	const lease = 3 * time.Second
	l := r.open(rlock.WithWatchdogTimeout(lease)).NewLock(name)
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "of the wait"), time.Minute)
	h, err := l.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	held, free := h.Context(context.Background())
	defer free()
	cancel()
	if held.Value(key{}) != nil {
		t.Error("the hold's context knows the wait's values")
	}
	if _, ok := held.Deadline(); ok {
		t.Error("the hold's context has the wait's deadline")
	}
	began := time.Now()
	r.Becomes("two leases passed", func() bool {
		if h.Err() != nil || held.Err() != nil {
			t.Fatalf("the hold: %v, its context: %v", h.Err(), context.Cause(held))
		}
		return time.Since(began) > 2*lease
	})
	r.heldOnlyBy(name, h.Owner(), 1)
	unlock(t, h)
	want(t, context.Cause(held), rlock.ErrReleased)
}
