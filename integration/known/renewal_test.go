package known

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// renewedFor checks that a hold's key lives on beyond leases that nobody renews.
func (r *rig) renewedFor(h *rlock.Hold, d time.Duration) {
	r.Helper()
	r.Stays(fmt.Sprintf("%s is held", h.Name()), d, func() bool {
		return h.Err() == nil && r.Number("HEXISTS", h.Name(), h.Owner().String()) == 1
	})
}

// One renewal that met a broken connection or an error ended all renewal, and the lock expired under its holder.
func TestRedisson775And2515And3194RenewalAfterAConnectionError(t *testing.T) {
	t.Parallel()
	for fault, rule := range map[string]faultproxy.Rule{
		"cut before it ran":       {Do: faultproxy.CutBefore},
		"cut after it ran":        {Do: faultproxy.CutAfter},
		"no reply":                {Do: faultproxy.DropReply},
		"an error":                {Do: faultproxy.Answer, Reply: []byte("-ERR something\r\n")},
		"a loading server":        {Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")},
		"a master that is gone":   {Do: faultproxy.Answer, Reply: []byte("-MASTERDOWN gone\r\n")},
		"a server that is a copy": {Do: faultproxy.Answer, Reply: []byte("-READONLY You can't write against a read only replica.\r\n")},
		"forgotten scripts":       {Do: faultproxy.Answer, Reply: []byte("-NOSCRIPT none\r\n")},
	} {
		t.Run(fault, func(t *testing.T) {
			r := newRig(t)
			h := r.Lock(r.c.NewLock(name))
			rule.Match, rule.Times = testbed.Renewals, 1
			r.Hit(r.Proxy.Add(rule))
			r.renewedFor(h, beyond)
			r.Unlock(h)
		})
	}
	t.Run("the server restarts", func(t *testing.T) {
		r := newRig(t)
		c := r.Open("redis://"+r.Proxy.Addr(), rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(2*watchdog))
		h := r.Lock(c.NewLock(name))
		r.server.Restart()
		r.Conn = redisDial(r)
		r.renewedFor(h, 2*beyond)
		r.Unlock(h)
	})
}

// A lock that was lost and acquired again stood in the registry of renewals as a dead entry, and its renewal never
// began again.
func TestRedisson3712LostAndReacquiredLockIsRenewed(t *testing.T) {
	r := newRig(t)
	l := r.c.NewLock(name)
	owner := r.c.NewOwner()
	for _, opts := range [][]rlock.AcquireOption{{rlock.As(owner)}, {rlock.As(owner)}, nil} {
		h := r.Lock(l, opts...)
		r.Do("DEL", name)
		testbed.Receive(r, "the loss", h.Done())
		again := r.Lock(l, opts...)
		r.renewedFor(again, beyond)
		if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("the lost hold: %v", err)
		}
		if again.Err() != nil {
			t.Fatalf("the lost hold's unlock ended the new one: %v", again.Err())
		}
		r.Unlock(again)
	}
}

// A renewal that was under way, or a timer that was left, extended a lock after its unlock: another holder's, or
// nobody's.
func TestRedisson7272RenewalDoesNotOutliveTheUnlock(t *testing.T) {
	r := newRig(t)
	l := r.c.NewLock(name)
	for range 20 {
		r.Unlock(r.Lock(l))
	}
	h := r.Lock(l)
	under := r.Proxy.Add(faultproxy.Rule{Match: testbed.Renewals, Times: 1, Do: faultproxy.HoldReply})
	r.Hit(under)
	released := make(chan error, 1)
	go func() { released <- h.Unlock(context.Background()) }()
	testbed.Receive(r, "the end of the hold", h.Done())
	under.Release()
	if err := testbed.Receive(r, "the unlock", released); err != nil {
		t.Fatal(err)
	}
	renewals := r.Answered(testbed.Renewals)
	// The next holder is of the same owner, with a lease of its own: nothing of the client's may extend it.
	r.Do("HSET", name, h.Owner().String(), 1)
	r.Do("PEXPIRE", name, watchdog.Milliseconds())
	r.Becomes("the end of a lease that nobody extends", func() bool { return r.Free(name) })
	if n := r.Answered(testbed.Renewals); n != renewals {
		t.Errorf("%d renewals after the last unlock", n-renewals)
	}
}

// A tryLock that was interrupted while its command was under way acquired the lock for nobody, and renewed it until
// the process ended.
func TestRedisson2714And4368CancelledAcquireIsNotRenewedForEver(t *testing.T) {
	t.Parallel()
	for call, acquire := range map[string]func(context.Context, *rlock.Lock) (*rlock.Hold, error){
		"TryLock":    func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLock(ctx) },
		"TryLockFor": func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLockFor(ctx, long) },
		"Lock":       func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) },
	} {
		t.Run(call, func(t *testing.T) {
			r := newRig(t)
			l := r.c.NewLock(name)
			ctx, cancel := context.WithCancel(t.Context())
			late := r.Proxy.Add(faultproxy.Rule{Match: testbed.Acquires, Times: 1, Do: faultproxy.HoldReply})
			ended := make(chan testbed.Entry, 1)
			go func() {
				h, err := acquire(ctx, l)
				ended <- testbed.Entry{Hold: h, Err: err}
			}()
			r.Hit(late)
			r.Becomes("the grant at the server", func() bool { return !r.Free(name) })
			cancel()
			if e := testbed.Receive(r, "the end of the call", ended); !errors.Is(e.Err, context.Canceled) || e.Hold != nil {
				t.Fatal(e)
			}
			late.Release()
			r.Becomes("the grant given back", func() bool { return r.Free(name) })
			renewals := r.Answered(testbed.Renewals)
			r.Stays("free and not renewed", watchdog, func() bool { return r.Free(name) && r.Answered(testbed.Renewals) == renewals })
		})
	}
}

// A re-entry replaced the entry in the registry, so that a later release of one of both ended the other's renewal, or
// a nested lease became everybody's.
func TestRedisson6144ReentryKeepsTheRenewal(t *testing.T) {
	t.Parallel()
	for what, nested := range map[string][]rlock.AcquireOption{
		"renewed":            nil,
		"with a short lease": {rlock.Lease(2 * time.Second)},
		"with a long lease":  {rlock.Lease(long)},
		"with a bound":       {rlock.MaxHold(time.Millisecond)},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			l := r.c.NewLock(name)
			outer := r.Lock(l)
			for range 3 {
				inner := r.Lock(l, append(nested, rlock.As(outer.Owner()))...)
				r.renewedFor(outer, watchdog/2) // a renewal and more
				_ = inner.Unlock(t.Context())   // a short lease is over, which it tells
			}
			if left := r.PTTL(name); what != "with a long lease" && left > watchdog {
				t.Errorf("%v left", left)
			}
			r.renewedFor(outer, beyond)
			r.Unlock(outer)
			if n := r.Number("HLEN", name); n != 0 && what != "with a short lease" {
				t.Errorf("%d owners left", n)
			}
		})
	}
}

// Locks that came and went while a tick walked the registry made it fail, and everybody's renewal with it.
func TestRedisson6472And6506RegistryThatChangesDuringATick(t *testing.T) {
	r := newRig(t)
	var kept []*rlock.Hold
	for i := range 250 { // ten batches
		kept = append(kept, r.Lock(r.c.NewLock(fmt.Sprint("kept ", i))))
	}
	over, stop := context.WithTimeout(t.Context(), beyond)
	defer stop()
	var coming sync.WaitGroup
	for i := range 4 {
		coming.Go(func() {
			for n := 0; over.Err() == nil; n++ {
				l := r.c.NewLock(fmt.Sprint("passing ", i, " ", n%50))
				h, err := l.TryLock(t.Context())
				if err == nil {
					err = h.Unlock(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	// Some of those that were there from the start leave while a batch is on its way.
	r.Hit(r.Proxy.Add(faultproxy.Rule{Match: testbed.Renewals, Times: 1, Do: faultproxy.HoldReply, Delay: timeout / 5}))
	for _, h := range kept[:50] {
		r.Unlock(h)
	}
	coming.Wait()
	for _, h := range kept[50:] {
		if h.Err() != nil || r.Free(h.Name()) {
			t.Fatalf("%s: %v, free %v", h.Name(), h.Err(), r.Free(h.Name()))
		}
		r.Unlock(h)
	}
	if n := r.Number("DBSIZE"); n != 0 {
		r.Becomes("an empty server", func() bool { return r.Number("DBSIZE") == 0 })
	}
}

// One slow shard of a cluster held up the tick, and the locks of all other shards expired. On one server, what can be
// in the way of others' renewals is a poisoned key in their batch, and an owner whose own command is open. Left for
// the cluster: renewals grouped by node, each with a connection and a patience of its own.
func TestRedisson6303And6962And6867OneRenewalDoesNotStarveTheOthers(t *testing.T) {
	r := newRig(t)
	var holds []*rlock.Hold
	for i := range 120 {
		holds = append(holds, r.Lock(r.c.NewLock(fmt.Sprint("lock ", i))))
	}
	poisoned := holds[7]
	r.Do("DEL", poisoned.Name())
	r.Do("SET", poisoned.Name(), "no lock")
	holds = append(holds[:7], holds[8:]...)
	r.Stays("everybody else holds", beyond, func() bool {
		for _, h := range holds {
			if h.Err() != nil {
				t.Fatalf("%s: %v", h.Name(), h.Err())
			}
		}
		return true
	})
	if !errors.Is(poisoned.Err(), rlock.ErrLeaseLost) {
		t.Errorf("the poisoned one: %v", poisoned.Err())
	}
	for _, h := range holds {
		r.Unlock(h)
	}
}
