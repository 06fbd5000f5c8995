package invariants

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/rlock"
)

// An Extend that nothing came of costs nothing: what is trusted is the lease that the server still counts.
func TestH6ExtendThatDidNotRunCostsNoTrust(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	refusal := func(words string) func(*rig, *rlock.Lock) {
		return func(r *rig, _ *rlock.Lock) {
			r.proxy.Add(faultproxy.Rule{Match: renewals, Do: faultproxy.Answer, Reply: []byte("-" + words + "\r\n")})
		}
	}
	unreachable := func(r *rig, l *rlock.Lock) {
		r.proxy.Refuse(true)
		r.proxy.CutAll()
		if _, err := l.IsLocked(r.Context()); err == nil {
			r.Fatal("it can be reached")
		}
	}
	for what, c := range map[string]struct {
		timeout time.Duration // shorter than the refused lease, or longer
		trouble func(*rig, *rlock.Lock)
	}{
		"READONLY":           {timeout, refusal("READONLY You can't write against a read only replica.")},
		"READONLY, for long": {2 * time.Second, refusal("READONLY You can't write against a read only replica.")},
		"OOM":                {timeout, refusal("OOM command not allowed when used memory > 'maxmemory'.")},
		"LOADING, for long":  {2 * time.Second, refusal("LOADING Redis is loading the dataset in memory")},
		"WRONGTYPE":          {timeout, refusal("WRONGTYPE Operation against a key holding the wrong kind of value")},
		"not sent":           {timeout, unreachable},
		"not sent, for long": {2 * time.Second, unreachable},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			l := r.openWith("redis://"+r.proxy.Addr(), c.timeout, nil).NewLock(name)
			h := lock(t, l, rlock.Lease(long))
			promised := h.ValidUntil()
			c.trouble(r, l)
			began := time.Now()
			err := h.Extend(t.Context(), short)
			if err == nil || errors.Is(err, rlock.ErrUncertain) {
				t.Errorf("Extend: %v", err)
			}
			r.becomes("the refused lease would be over", func() bool { return time.Since(began) > 2*short+c.timeout })
			if err := h.Err(); err != nil {
				t.Fatal(err)
			}
			if valid := h.ValidUntil(); valid.Before(promised.Add(-time.Second)) {
				t.Errorf("trusted for %v", time.Until(valid))
			}
		})
	}
}

// One that may have run costs as much as it says.
func TestH6ExtendThatMayHaveRunIsTrustedForTheShorterLease(t *testing.T) {
	t.Parallel()
	for _, do := range []faultproxy.Action{faultproxy.DropReply, faultproxy.CutAfter} {
		t.Run(do.String(), func(t *testing.T) {
			r := newRig(t)
			h := lock(t, r.open().NewLock(name), rlock.Lease(long))
			fault := r.proxy.Add(faultproxy.Rule{Match: renewals, Do: do})
			extended := make(chan error, 1)
			go func() { extended <- h.Extend(t.Context(), 2*time.Second) }()
			happens(t, "the extension", fault.Hit())
			if left := time.Until(h.ValidUntil()); left > 2*time.Second {
				t.Errorf("trusted for %v", left)
			}
			want(t, happens(t, "Extend returns", extended), rlock.ErrUncertain)
			if valid := h.ValidUntil(); valid.After(r.expires(name)) {
				t.Errorf("trusted for %v", time.Until(valid))
			}
		})
	}
}
