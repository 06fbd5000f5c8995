package gate_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestTheWitnessKnowsTheAcquiresAndRenewalsOfAllKinds(t *testing.T) {
	master, replica := redistest.Start(t), redistest.Start(t)
	host, port, _ := net.SplitHostPort(master.Addr())
	if _, err := replica.Dial(t).Do("REPLICAOF", host, port); err != nil {
		t.Fatal(err)
	}
	asks := master.Dial(t)
	testbed.Becomes(t, "a replica", func() bool {
		n, err := redis.Int(asks.Do("WAIT", 1, 100))
		return err == nil && n == 1
	})
	w := gate.NewWitness()
	p := faultproxy.Start(t, master.Addr())
	p.Observe(func(e faultproxy.Exchange) { w.See(7, e) })
	c := testbed.Open(t, "redis://"+p.Addr(), rlock.WithReplicaSync(true), rlock.WithWatchdogTimeout(3*time.Second))
	for _, k := range []javapeer.Kind{javapeer.Plain, javapeer.Fair, javapeer.Read, javapeer.Write, javapeer.Fenced, javapeer.NonReentrant} {
		name := "of " + string(k)
		h, err := k.GoLock(c, name).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		owner := h.Owner().String()
		testbed.Becomes(t, "renewals of "+string(k), func() bool { return len(w.Gaps(owner, time.Time{}, time.Now())) > 0 })
		if !w.OnlyAt(owner, 7) {
			t.Errorf("%q: its acquire was not seen", k)
		}
		testbed.Becomes(t, "a proof of "+string(k), func() bool { return w.Of(owner, time.Now()) == gate.Proven })
		refused := k
		if k == javapeer.Read {
			refused = javapeer.Write
		}
		other := c.NewOwner()
		if _, err := refused.GoLock(c, name).TryLock(t.Context(), rlock.As(other)); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("%q: %v", k, err)
		}
		if w.OnlyAt(other.String(), 7) {
			t.Errorf("%q: a refusal was taken for a grant", k)
		}
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
