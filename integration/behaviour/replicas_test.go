package behaviour_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// replicated is a master with one replica that has caught up.
func replicated(t *testing.T) (*rig, *redisserver.LocalServer) {
	t.Helper()
	r, master := own(t)
	replica := redisserver.Replica(t, master)
	redisserver.AwaitReplication(t, replica)
	return r, replica
}

func TestReplicaSyncSendsWAITOnlyWhenAsked(t *testing.T) {
	r, _ := replicated(t)
	for _, row := range []struct {
		behaviour string
		opts      []rlock.Option
		waits     int
	}{
		{"by default", nil, 0},
		{"off", []rlock.Option{rlock.WithReplicaSync(false)}, 0},
		{"on", []rlock.Option{rlock.WithReplicaSync(true)}, 2},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			c := r.open(row.opts...)
			r.Unlock(r.Lock(c.NewLock(r.name()))) // loads the scripts
			before := r.Calls()["WAIT"]
			r.Unlock(r.Lock(c.NewLock(r.name())))
			if n := r.Calls()["WAIT"] - before; n != row.waits {
				t.Errorf("%d WAIT for a lock and an unlock, want %d", n, row.waits)
			}
		})
	}
}

// The client gives back a grant that no replica acknowledged, and tries again for a command timeout before it fails.
func TestGrantThatNoReplicaAcknowledgesIsGivenBack(t *testing.T) {
	t.Parallel()
	r, replica := replicated(t)
	c := r.open(rlock.WithReplicaSync(true))
	l := c.NewLock(r.name())
	replica.Pause()
	defer replica.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := l.TryLock(ctx)
	if err == nil || !strings.Contains(err.Error(), "no replica acknowledged") {
		t.Fatalf("got %v", err)
	}
	r.Becomes("the key is gone", func() bool { return r.Number("EXISTS", l.Name()) == 0 })

	replica.Resume()
	h := r.Lock(l)
	if n := r.Number("HGET", l.Name(), h.Owner().String()); n != 1 {
		t.Errorf("held %d times", n)
	}
	r.Unlock(h)
}

// An unlock that no replica acknowledges counts once, though it is sent again with its latch, and returns an error.
func TestUnlockThatNoReplicaAcknowledgesCountsOnce(t *testing.T) {
	t.Parallel()
	r, replica := replicated(t)
	c := r.open(rlock.WithReplicaSync(true))
	l := c.NewLock(r.name())
	outer := r.Lock(l)
	inner := r.Lock(l, rlock.As(outer.Owner()))
	replica.Pause()
	defer replica.Resume()
	err := inner.Unlock(context.Background())
	if err == nil || !strings.Contains(err.Error(), "no replica acknowledged") || errors.Is(err, rlock.ErrNotHeld) {
		t.Fatalf("got %v", err)
	}
	if n := r.Number("HGET", l.Name(), outer.Owner().String()); n != 1 {
		t.Errorf("%d holds are left, want 1", n)
	}
	replica.Resume()
	r.Unlock(outer)
	if n := r.Number("EXISTS", l.Name()); n != 0 {
		t.Error("the key is still there")
	}
}

// The client does not rely on an extension that no replica acknowledged: the next master would know only the old lease.
func TestExtensionThatNoReplicaAcknowledgesIsNotReliedOn(t *testing.T) {
	t.Parallel()
	r, replica := replicated(t)
	h := r.Lock(r.open(rlock.WithReplicaSync(true)).NewLock(r.name()), rlock.Lease(patience))
	until := h.ValidUntil()
	replica.Pause()
	defer replica.Resume()
	if err := h.Extend(t.Context(), 2*patience); err == nil || !strings.Contains(err.Error(), "extended, but no replica acknowledged it") || !strings.HasSuffix(err.Error(), "; the client relies only on the shorter lease") {
		t.Errorf("Extend: %v", err)
	}
	if now := h.ValidUntil(); now.After(until.Add(time.Millisecond)) { // two clocks are read
		t.Errorf("relied on until %v, and before until %v", now, until)
	}
	replica.Resume()
	r.Unlock(h)
}

// The key lives on at this master, but a client that is cut off together with the master must not rely on that.
func TestRenewalThatNoReplicaAcknowledgesIsNotReliedOn(t *testing.T) {
	t.Parallel()
	r, replica := replicated(t)
	const lease = 6 * time.Second
	l := r.open(rlock.WithReplicaSync(true), rlock.WithWatchdogTimeout(lease)).NewLock(r.name())
	h := r.Lock(l)
	first := h.ValidUntil()
	replica.Pause()
	defer replica.Resume()
	r.Becomes("it is renewed at the master", func() bool {
		return !first.Before(time.Now()) && int64(r.Number("PTTL", l.Name())) > (time.Until(first)+lease/4).Milliseconds()
	})
	testbed.Receive(t, "the hold is lost", h.Done())
	if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) || h.ValidUntil().After(first.Add(time.Millisecond)) {
		t.Errorf("lost by %v, relied on until %v, and before until %v", err, h.ValidUntil(), first)
	}
	replica.Resume()
	r.Do("DEL", l.Name())
	again := r.Lock(l)
	first = again.ValidUntil()
	r.Becomes("the next hold is renewed", func() bool { return again.ValidUntil().After(first.Add(lease / 10)) })
	r.Unlock(again)
}

// The unlock of an owner used once is sent once, however often WAIT is; only its own connection can send that WAIT.
func TestReplicasOfAnUnlockAreAskedOnceMore(t *testing.T) {
	t.Parallel()
	for behaviour, row := range map[string]struct {
		resume bool // whether the replica resumes between the two WAITs
		cut    int  // which WAIT's reply is cut, 1 or 2; 0: none
		says   string
	}{
		"nobody acknowledges":              {says: "no replica acknowledged"},
		"the second time one acknowledges": {resume: true},
		"the first answer is cut":          {cut: 1, says: "whether a replica has it is not known"},
		"the second answer is cut":         {cut: 2, says: "whether a replica has it is not known"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			r, replica := replicated(t)
			p := testbed.NewProxied(t, r.Server)
			l := r.Open(p.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(patience)).NewLock(r.name())
			r.Unlock(r.Lock(l)) // loads the scripts
			h := r.Lock(l)
			unlocksBefore, waitsBefore := p.Sent(testbed.Unlocks), p.Sent(faultproxy.Command("WAIT"))
			replica.Pause()
			defer replica.Resume()
			if row.cut > 0 {
				p.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("WAIT"), Skip: row.cut - 1, Times: 1, Do: faultproxy.CutAfter})
			}
			released := testbed.Begun(func() error { return h.Unlock(context.Background()) })
			if row.resume {
				r.Becomes("the second question", func() bool { return p.Sent(faultproxy.Command("WAIT")) == waitsBefore+2 })
				replica.Resume()
			}
			err := testbed.Receive(r, "Unlock returns", released)
			if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), "released, but") || !strings.Contains(err.Error(), row.says)) {
				t.Errorf("got %v", err)
			}
			if errors.Is(err, rlock.ErrUncertain) || errors.Is(err, rlock.ErrNotHeld) {
				t.Errorf("released, and says %v", err)
			}
			if n := p.Sent(testbed.Unlocks) - unlocksBefore; n != 1 {
				t.Errorf("%d unlocks were sent", n)
			}
			if r.Number("EXISTS", l.Name()) != 0 {
				t.Error("still locked")
			}
		})
	}
	t.Run("the unlock's answer is cut", func(t *testing.T) {
		r, replica := replicated(t)
		p := faultproxy.Start(t, r.Server.Addr())
		l := r.Open("redis://"+p.Addr(), rlock.WithReplicaSync(true)).NewLock(r.name())
		r.Unlock(r.Lock(l)) // loads the scripts
		h := r.Lock(l)
		replica.Pause()
		defer replica.Resume()
		p.Add(faultproxy.Rule{Match: testbed.Unlocks, Times: 1, Do: faultproxy.CutAfter})
		// WAIT on the new connection returns at once: it covers only what that connection wrote.
		err := h.Unlock(context.Background())
		if err == nil || !strings.Contains(err.Error(), "released, but whether a replica has it is not known") {
			t.Errorf("got %v", err)
		}
		if r.Number("EXISTS", l.Name()) != 0 {
			t.Error("still locked")
		}
	})
}

// A refused WAIT (hosted or old server, missing permission) does not fail a lock that the server granted.
func TestRefusedWAITFailsNoLock(t *testing.T) {
	t.Parallel()
	r, _ := replicated(t)
	p := testbed.NewProxied(t, r.Server)
	for refusal, reply := range map[string]string{
		"unknown":   "-ERR unknown command 'WAIT', with args beginning with: '1' '1000' \r\n",
		"forbidden": "-NOPERM this user has no permissions to run the 'wait' command\r\n",
	} {
		t.Run(refusal, func(t *testing.T) {
			r := on(t, r.Server)
			refused := p.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("WAIT"), Do: faultproxy.Answer, Reply: []byte(reply)})
			defer refused.Remove()
			l := r.Open(p.URL(), rlock.WithReplicaSync(true)).NewLock(r.name())
			h := r.Lock(l)
			r.Unlock(r.Lock(l, rlock.As(h.Owner())))
			r.Unlock(h)
			if !r.Free(l.Name()) || refused.Hits() == 0 {
				t.Errorf("free: %v, after %d WAITs that were refused", r.Free(l.Name()), refused.Hits())
			}
		})
	}
	t.Run("a server that has just become a replica acknowledges nothing", func(t *testing.T) {
		r := on(t, r.Server)
		refused := p.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("WAIT"), Do: faultproxy.Answer, Reply: []byte("-ERR WAIT cannot be used with replica instances.\r\n")})
		defer refused.Remove()
		if _, err := r.Open(p.URL(), rlock.WithReplicaSync(true)).NewLock(r.name()).TryLock(t.Context()); !errors.Is(err, rlock.ErrUnreplicated) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a server that refuses INFO is sent none", func(t *testing.T) {
		r := on(t, r.Server)
		refused := p.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("INFO"), Do: faultproxy.Answer, Reply: []byte("-NOPERM no\r\n")})
		defer refused.Remove()
		before := p.Sent(faultproxy.Command("WAIT"))
		r.Unlock(r.Lock(r.Open(p.URL(), rlock.WithReplicaSync(true)).NewLock(r.name())))
		if n := p.Sent(faultproxy.Command("WAIT")) - before; n != 0 {
			t.Errorf("%d WAITs", n)
		}
	})
}
