package invariants

import (
	"testing"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Without a kill barrier the lost send may run at any time. An owner that nobody knows is none the worse for it; one that
// was shown is not used again in this client.
func TestR4WithoutAKillBarrier(t *testing.T) {
	t.Parallel()
	t.Run("nobody knows the owner", func(t *testing.T) {
		r, url := rigWithoutKill(t)
		c := r.openAt(url)
		h := lock(t, c.NewLock(name))
		text := r.holder(name)
		late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
		r.Proxy.CutAll()
		if err := testbed.Receive(t, "Unlock returns", released); err != nil {
			t.Error(err)
		}
		r.unlatched(name, 2)
		next := lock(t, r.openAt(url).NewLock(name))
		if late.Release() != 1 {
			t.Error("it did not run; nothing is shown by this test")
		}
		if err := next.Err(); err != nil || r.fields(name)[r.holder(name)] != 1 {
			t.Errorf("the next holder: %v, left %v", err, r.fields(name))
		}
		unlock(t, next)
		o, err := rlock.ParseOwner(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.NewLock(name).TryLock(t.Context(), rlock.As(o))
		want(t, err, rlock.ErrUncertain)
		r.Gone(name)
	})
	t.Run("it was shown meanwhile", func(t *testing.T) {
		r, url := rigWithoutKill(t)
		c := r.openAt(url)
		l := c.NewLock(name)
		h := lock(t, l)
		late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
		o := h.Owner()
		r.Proxy.CutAll()
		want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
		r.unlatched(name, 1)
		_, err := l.TryLock(t.Context(), rlock.As(o))
		want(t, err, rlock.ErrUncertain)
		want(t, l.UnlockAs(t.Context(), o), rlock.ErrUncertain)
		r.heldOnlyBy(name, o, 1)
		r.unlatched(name, 1)
		late.Release()
		r.Gone(name)
	})
}

// The same of an owner that keeps its latch: an unlock that finds nothing sets none, so what was lost before it runs when
// it arrives.
func TestR4UnlockThatFoundNothingWithoutAKillBarrier(t *testing.T) {
	r, url := rigWithoutKill(t)
	l := r.openAt(url).NewLock(name)
	h := lock(t, l)
	o := h.Owner()
	late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
	r.Do("DEL", name)
	r.Proxy.CutAll()
	want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrNotHeld)
	again, err := l.TryLock(t.Context(), rlock.As(o))
	want(t, err, rlock.ErrUncertain)
	if late.Release() != 1 {
		t.Error("it did not run; nothing is shown by this test")
	}
	if again != nil && again.Err() == nil {
		r.heldOnlyBy(name, o, 1)
	}
}
