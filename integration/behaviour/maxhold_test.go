package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// The living holds decide how long the watchdog renews, even if the unlock of a nested hold failed.
func TestMaxHoldOutlivesTheUnlockOfANestedHold(t *testing.T) {
	t.Parallel()
	const command, timeout, longest = time.Second, 3 * time.Second, 2 * time.Second
	for what, fault := range map[string]faultproxy.Rule{
		"refused":          {Do: faultproxy.Answer, Reply: []byte("-OOM command not allowed when used memory > 'maxmemory'.\r\n")},
		"refused for good": {Do: faultproxy.Answer, Reply: []byte("-ERR no such thing\r\n")},
		"uncertain":        {Do: faultproxy.DropReply},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := spoil(t, rlock.WithCommandTimeout(command), rlock.WithWatchdogTimeout(timeout))
			l := s.c.NewLock("x")
			began := time.Now()
			outer := s.Lock(l, rlock.MaxHold(longest))
			inner := s.Lock(l, rlock.As(outer.Owner()))
			fault.Match = faultproxy.Script(luasrc.UnlockToScript.SHA1)
			r := s.proxy.Add(fault)
			if inner.Unlock(t.Context()) == nil {
				t.Error("the unlock was answered")
			}
			r.Remove()
			testbed.Receive(s, "the outer hold's end", outer.Done())
			notBefore(t, "the outer hold", time.Since(began), longest-timeout/100)
		})
	}
}

// After the release of a longer nested lease the key lives no longer than MaxHold allows, and the outer hold does not
// count on more. What ValidUntil said before the release still holds after it.
func TestMaxHoldBoundsWhatANestedLeaseLeaves(t *testing.T) {
	t.Parallel()
	const timeout, longest = 3 * time.Second, time.Second
	r := start(t)
	l := r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(r.name())
	outer := r.Lock(l, rlock.MaxHold(longest))
	inner := r.Lock(l, rlock.As(outer.Owner()), rlock.Lease(time.Minute))
	promised := outer.ValidUntil()
	notBefore(t, "what the outer hold is promised", time.Until(promised), longest)
	r.Unlock(inner)
	left := r.PTTL(l.Name())
	notBefore(t, "what the key has left", left, time.Until(promised))
	if valid := outer.ValidUntil(); valid.Before(promised.Add(-10 * time.Millisecond)) {
		t.Errorf("the unlock cut what the outer hold was promised by %v", promised.Sub(valid))
	}
	testbed.Receive(r, "the outer hold's end", outer.Done())
	r.Becomes("the key is gone", func() bool { return r.Number("EXISTS", l.Name()) == 0 })
}

// The longer nested lease keeps the key alive, but the outer hold ends at its MaxHold.
func TestMaxHoldEndsInsideALongerLease(t *testing.T) {
	t.Parallel()
	const timeout, longest = 3 * time.Second, 2 * time.Second
	r := start(t)
	l := r.open(rlock.WithWatchdogTimeout(timeout)).NewLock(r.name())
	began := time.Now()
	outer := r.Lock(l, rlock.MaxHold(longest))
	inner := r.Lock(l, rlock.As(outer.Owner()), rlock.Lease(time.Minute))
	testbed.Receive(r, "the outer hold's end", outer.Done())
	notBefore(t, "the outer hold", time.Since(began), longest)
	wants(t, outer.Err(), rlock.ErrLeaseLost)
	wants(t, outer.Unlock(t.Context()), rlock.ErrLeaseLost)
	if err := inner.Err(); err != nil {
		t.Error(err)
	}
	if n, err := l.HoldCount(t.Context(), inner.Owner()); n != 1 || err != nil {
		t.Error(n, err)
	}
	r.Unlock(inner)
}
