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
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestTheWitnessKnowsTheAcquiresAndRenewalsOfAllKinds(t *testing.T) {
	master, replica := redistest.Start(t), redistest.Start(t)
	host, port, _ := net.SplitHostPort(master.Addr())
	testbed.Do(t, replica.Dial(t), "REPLICAOF", host, port)
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
		testbed.Must(t, err)
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

func TestTheWitnessCountsWhatRedissonIsGrantedTwice(t *testing.T) {
	server, w := redistest.Start(t), gate.NewWitness()
	p := faultproxy.Start(t, server.Addr())
	acquires := make(chan []string, 2)
	p.Observe(func(e faultproxy.Exchange) {
		w.See(7, e)
		if faultproxy.Script("992c96b0")(e.Cmd) {
			acquires <- e.Cmd
		}
	})
	sets := testbed.Open(t, "redis://"+p.Addr()).NewPermitSemaphore("sem")
	isSet := func() bool {
		done, err := sets.TrySetPermits(t.Context(), 3)
		return done && err == nil
	}
	java := javapeer.Start(t, javapeer.Newest, p.Addr()).Thread("t").Of("permits")
	if !isSet() {
		t.Fatal("no permits are set")
	}
	_, err := java.Call(t.Context(), "sem", "acquire", time.Minute)
	testbed.Must(t, err)
	acquire := <-acquires
	if n := w.Doubled("sem"); n != 0 {
		t.Errorf("%d after one grant", n)
	}
	testbed.Do(t, dial(t, p.Addr()), acquire[0], redis.Args{}.AddFlat(acquire[1:])...)
	if free := testbed.Do(t, server.Dial(t), "GET", "sem"); string(free.([]byte)) != "1" || w.Doubled("sem") != 1 {
		t.Errorf("after the same grant twice %s of 3 are free; the witness counts %d", free, w.Doubled("sem"))
	}
	if _, err := sets.Delete(t.Context()); err != nil || !isSet() || w.Doubled("sem") != 0 {
		t.Errorf("after a new setting: %v; the witness counts %d", err, w.Doubled("sem"))
	}
}
