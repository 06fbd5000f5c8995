package invariants

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

var noKill = redisserver.User{Name: "app", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-client|kill"}}

func rigWithoutKill(t *testing.T) (*rig, string) {
	r := rigOn(t, redisserver.ACL(t, noKill))
	r.latchesMayStay = true
	return r, "redis://app:secret@" + r.proxy.Addr()
}

// Where KILL is refused, a late acquire runs. It is removed by the undo that is repeated each second, not by its lease.
func TestA5WithoutKillALateAcquireIsRemoved(t *testing.T) {
	t.Parallel()
	r, url := rigWithoutKill(t)
	c := r.openAt(url)
	l := c.NewLock(name)
	late := r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.Withhold})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := locking(ctx, l, rlock.Lease(long))
	happens(t, "the acquire", late.Hit())
	cancel()
	want(t, happens(t, "Lock returns", got).err, context.Canceled)
	r.proxy.CutAll()
	r.becomes("the first undo", func() bool {
		undos := r.of("unlock", name)
		return len(undos) == 1 && !undos[0].Answered.IsZero()
	})
	if n := late.Release(); n != 1 {
		t.Fatal("the late acquire did not run; nothing is shown by this test")
	}
	arrived := time.Now()
	r.gone(name)
	if took := time.Since(arrived); took > 2500*time.Millisecond {
		t.Errorf("removed after %v, want about a second", took)
	}
}

// It is repeated for one lease, no longer.
func TestA5WithoutKillTheUndoIsRepeatedForOneLease(t *testing.T) {
	t.Parallel()
	r, url := rigWithoutKill(t)
	c := r.openAt(url)
	const lease = 2500 * time.Millisecond
	r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutBefore})
	h := granted(t, locking(t.Context(), c.NewLock(name), rlock.Lease(lease)))
	first := r.of("acquire", name)[0].owners[0]
	undos := func() []step {
		return slices.DeleteFunc(r.of("unlock", name), func(s step) bool { return !s.over(first) })
	}
	began := time.Now()
	r.becomes("one lease and more has passed", func() bool { return time.Since(began) > lease+1700*time.Millisecond })
	all := undos()
	if n := len(all); n < 3 || n > 4 {
		t.Errorf("%d undos within one lease of %v, want 3 or 4", n, lease)
	}
	for i := 1; i < len(all); i++ {
		if pause := all[i].Sent.Sub(all[i-1].Sent); pause < 900*time.Millisecond || pause > 2*time.Second {
			t.Errorf("undo %d came %v after the one before", i, pause)
		}
	}
	_ = h.Unlock(t.Context()) // its own lease is over by now
}

// What is undone again and again is the lost try's owner, never the one that got in after it.
func TestA5WithoutKillTheUndoSparesTheHoldThatFollowed(t *testing.T) {
	t.Parallel()
	r, url := rigWithoutKill(t)
	r.occupy(name)
	got := locking(t.Context(), r.openAt(url).NewLock(name))
	r.answered(name, 2)
	r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
	r.vacate(name)
	h := granted(t, got)
	lost := r.of("acquire", name)[2].owners[0]
	r.becomes("two more undos", func() bool {
		r.heldOnlyBy(name, h.Owner(), 1)
		return len(r.of("unlock", name)) > 2
	})
	for _, s := range r.of("unlock", name) {
		if !s.over(lost) || s.over(h.Owner().String()) {
			t.Errorf("undone: %v; the lost try was %s's", s.owners, lost)
		}
	}
	if err := h.Err(); err != nil {
		t.Error(err)
	}
	unlock(t, h)
	r.gone(name)
}

func TestA5WithoutKillASharedOwnerIsUncertain(t *testing.T) {
	t.Parallel()
	r, url := rigWithoutKill(t)
	c := r.openAt(url)
	l := c.NewLock(name)
	h := lock(t, l)
	r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
	got := happens(t, "Lock returns", locking(t.Context(), l, rlock.As(h.Owner())))
	want(t, got.err, rlock.ErrUncertain)
}

// A server that tells a client nothing about its connections: the fence can't even be named.
func TestA5WithoutClientCommandsALostReplyIsUndone(t *testing.T) {
	t.Parallel()
	user := redisserver.User{Name: "app", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-client"}}
	r := rigOn(t, redisserver.ACL(t, user))
	r.latchesMayStay = true
	l := r.openAt("redis://app:secret@" + r.proxy.Addr()).NewLock(name)
	r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
	h := lock(t, l)
	r.heldOnlyBy(name, h.Owner(), 1)
	r.proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.CutAfter})
	unlock(t, h)
	r.gone(name)
	r.neverSentAgain(name)
}
