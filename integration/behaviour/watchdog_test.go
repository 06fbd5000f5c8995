package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestWatchdogKeepsTTLAboveHalf(t *testing.T) {
	t.Parallel()
	const timeout, held = 9 * time.Second, 20 * time.Second // a stall is less than the sixth between its half and a renewal
	r := start(t)
	l := r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(r.name())
	h := r.Lock(l)
	lowest, renewals, last := timeout, 0, timeout
	for began := time.Now(); time.Since(began) < held; <-time.After(15 * time.Millisecond) {
		left := r.PTTL(l.Name())
		lowest = min(lowest, left)
		if left > last+timeout/10 {
			renewals++
		}
		last = left
		if err := h.Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("a hold of %v with a timeout of %v: the TTL never fell below %v, %d renewals", held, timeout, lowest, renewals)
	if lowest < timeout/2 {
		t.Errorf("the TTL fell to %v", lowest)
	}
	if renewals < 5 || renewals > 8 {
		t.Errorf("%d renewals, want one each three seconds", renewals)
	}
	r.Unlock(h)
	t.Run("and ends with the hold", func(t *testing.T) {
		// Somebody else's key of that name must not be renewed.
		r.Do("HSET", l.Name(), h.Owner(), 1)
		r.Do("PEXPIRE", l.Name(), (timeout / 2).Milliseconds())
		r.Becomes("it expires", func() bool { return r.Number("EXISTS", l.Name()) == 0 })
	})
}

func TestWatchdogTellsOfALockThatIsGone(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	r := start(t)
	c := r.open(rlock.WithWatchdogTimeout(timeout))
	for behaviour, take := range map[string]func(r *rig, name string){
		"deleted":            func(r *rig, name string) { r.Do("DEL", name) },
		"taken by another":   func(r *rig, name string) { r.Do("DEL", name); r.Do("HSET", name, c.NewOwner(), 1) },
		"forced from abroad": func(r *rig, name string) { _, _ = r.open().NewLock(name).ForceUnlock(r.Context()) },
	} {
		t.Run(behaviour, func(t *testing.T) {
			r := on(t, r.Server)
			l := c.NewLock(r.name())
			h := r.Lock(l)
			defer r.Do("DEL", l.Name())
			began := time.Now()
			take(r, l.Name())
			testbed.Receive(r, "the hold to be told", h.Done())
			// At the next renewal.
			between(t, "telling", time.Since(began), 0, timeout)
			wants(t, h.Err(), rlock.ErrLeaseLost)
			if until := h.ValidUntil(); until.After(time.Now()) {
				t.Errorf("valid for another %v", time.Until(until))
			}
			before := r.Text("TYPE", l.Name())
			err := h.Unlock(t.Context())
			wants(t, err, rlock.ErrLeaseLost, h.Owner().String()[:36])
			wants(t, err, rlock.ErrNotHeld)
			if after := r.Text("TYPE", l.Name()); after != before {
				t.Errorf("the late unlock made %s of %s", after, before)
			}
		})
	}
}
