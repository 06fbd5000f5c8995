package known

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// An unlock that ran and whose reply was lost was sent again, found nothing, and threw "not locked by current thread";
// a repeated partial unlock gave up two holds; a repeated acquire counted twice.
func TestRedisson4871And6651And6844FalseNotHeldAfterLostReply(t *testing.T) {
	t.Parallel()
	for fault, do := range map[string]faultproxy.Action{"connection cut": faultproxy.CutAfter, "no reply": faultproxy.DropReply, "cut before": faultproxy.CutBefore} {
		t.Run("last unlock, "+fault, func(t *testing.T) {
			r := newRig(t)
			h := r.Lock(r.c.NewLock(name))
			lost := r.Proxy.Add(faultproxy.Rule{Match: testbed.Unlocks, Times: 1, Do: do})
			r.Unlock(h)
			if lost.Hits() != 1 || !r.Free(name) {
				t.Errorf("%d replies lost, free %v", lost.Hits(), r.Free(name))
			}
			r.Unlock(r.Lock(r.other().NewLock(name)))
		})
		t.Run("partial unlock, "+fault, func(t *testing.T) {
			r := newRig(t)
			l := r.c.NewLock(name)
			h := r.Lock(l)
			inner := r.Lock(l, rlock.As(h.Owner()))
			lost := r.Proxy.Add(faultproxy.Rule{Match: testbed.Unlocks, Times: 1, Do: do})
			r.Unlock(inner)
			if n := r.Number("HGET", name, h.Owner().String()); n != 1 || lost.Hits() != 1 || h.Err() != nil {
				t.Errorf("count %d, %d replies lost, %v", n, lost.Hits(), h.Err())
			}
			r.Unlock(h)
			if !r.Free(name) {
				t.Error("still held")
			}
		})
		t.Run("acquire, "+fault, func(t *testing.T) {
			r := newRig(t)
			lost := r.Proxy.Add(faultproxy.Rule{Match: testbed.Acquires, Times: 1, Do: do})
			h, err := r.c.NewLock(name).TryLockFor(t.Context(), patience)
			if do == faultproxy.DropReply && errors.Is(err, rlock.ErrUncertain) {
				// The silence was all that the caller's patience with an unknown server bears.
				r.Becomes("what it took given back", func() bool { return r.Free(name) })
				h, err = r.c.NewLock(name).TryLockFor(t.Context(), patience)
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := r.Number("HGET", name, h.Owner().String()); n != 1 || r.Number("HLEN", name) != 1 || lost.Hits() != 1 {
				t.Errorf("count %d, %d replies lost", n, lost.Hits())
			}
			r.Unlock(h)
			if !r.Free(name) {
				t.Error("still held after one unlock")
			}
		})
	}
	t.Run("a true one is told", func(t *testing.T) {
		r := newRig(t)
		h := r.Lock(r.c.NewLock(name))
		r.Do("DEL", name)
		if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrNotHeld) {
			t.Error(err)
		}
	})
}

// A message that was published between a waiter's failed try and its subscription was missed, and the waiter parked
// until the lease of a lock that nobody held any more was over.
func TestRedisson5761UnlockBetweenFailedTryAndParking(t *testing.T) {
	r := newRig(t)
	h := r.Lock(r.other().NewLock(name), rlock.Lease(long))
	late := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("SUBSCRIBE"), Times: 1, Do: faultproxy.Withhold})
	waiter := testbed.Enter(t.Context(), r.c.NewLock(name))
	r.Hit(late) // the try has failed, the server does not know of the subscription
	r.Unlock(h)
	late.Release()
	r.Unlock(r.Entered(waiter).Hold)

	t.Run("or between the subscription and its confirmation", func(t *testing.T) {
		h := r.Lock(r.c.NewLock("second"), rlock.Lease(long))
		late := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("SUBSCRIBE"), Times: 1, Do: faultproxy.HoldReply})
		waiter := testbed.Enter(r.Context(), r.c.NewLock("second"))
		r.Hit(late)
		r.Listeners("second", 1)
		r.Unlock(h)
		late.Release()
		r.Unlock(r.Entered(waiter).Hold)
	})
	t.Run("or while the subscription connection was away", func(t *testing.T) {
		h := r.Lock(r.other().NewLock("third"), rlock.Lease(long))
		waiter := testbed.Enter(r.Context(), r.c.NewLock("third"))
		r.Listeners("third", 1)
		r.Proxy.Refuse(true)
		r.Proxy.CutAll()
		r.Listeners("third", 0)
		r.Unlock(h)
		r.Proxy.Refuse(false)
		r.Unlock(r.Entered(waiter).Hold)
	})
}

// Whatever the lease argument was, a value below a millisecond reached PEXPIRE as 0 and deleted the key at once: the
// lock was granted to everybody. The argument 0 did so where it did not mean the watchdog.
func TestRedisson4818And5623And5392And5853LeaseThatDeletesTheKey(t *testing.T) {
	r := newRig(t)
	l := r.c.NewLock(name)
	h := r.Lock(l, rlock.Lease(long))
	for _, d := range []time.Duration{0, 1, time.Microsecond, time.Millisecond - 1, -1, -time.Second} {
		if _, err := l.TryLock(t.Context(), rlock.As(h.Owner()), rlock.Lease(d)); !errors.Is(err, rlock.ErrInvalidOption) {
			t.Errorf("Lease(%v): %v", d, err)
		}
		if err := h.Extend(t.Context(), d); !errors.Is(err, rlock.ErrInvalidOption) {
			t.Errorf("Extend(%v): %v", d, err)
		}
	}
	t.Run("nor does a short one inside a long one", func(t *testing.T) {
		for _, d := range []time.Duration{time.Millisecond, 2*time.Millisecond - 1} {
			inner, err := l.TryLock(r.Context(), rlock.As(h.Owner()), rlock.Lease(d))
			if err == nil {
				_ = inner.Unlock(r.Context()) // it may be over by now
			} else if !errors.Is(err, rlock.ErrLeaseLost) {
				t.Error(err)
			}
			if left := r.PTTL(name); left < long/2 || h.Err() != nil {
				t.Errorf("%v left after a nested lease of %v, %v", left, d, h.Err())
			}
		}
	})
	t.Run("a millisecond is a millisecond", func(t *testing.T) {
		short := r.c.NewLock("short")
		if _, err := short.TryLock(r.Context(), rlock.Lease(time.Millisecond)); err != nil && !errors.Is(err, rlock.ErrLeaseLost) {
			t.Error(err)
		}
		sent := 0
		for _, e := range r.Proxy.Record() {
			if faultproxy.All(testbed.Acquires, faultproxy.Key("short"))(e.Cmd) {
				if sent++; e.Cmd[4] != "1" {
					t.Errorf("lease %s was sent", e.Cmd[4])
				}
			}
		}
		if sent != 1 {
			t.Errorf("%d acquires", sent)
		}
	})
	t.Run("0 of a wait means one try", func(t *testing.T) {
		began := time.Now()
		if _, err := l.TryLockFor(r.Context(), 0); !errors.Is(err, rlock.ErrLocked) || time.Since(began) > 5*time.Second {
			t.Error(err, time.Since(began))
		}
	})
	r.Unlock(h)
}
