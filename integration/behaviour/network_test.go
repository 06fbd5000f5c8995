package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestNetworkThatIsCutAndHeals(t *testing.T) {
	t.Parallel()
	s := redisserver.Container(t)
	const command = 2 * time.Second
	on(t, s).part("within the lease: renewals fail meanwhile, the hold survives, the waiter enters after it", func(r *rig) {
		const timeout = 9 * time.Second
		h, waiter := r.heldAndAwaited(timeout, rlock.WithCommandTimeout(command))
		until := r.renewed(h, timeout)
		s.CutNetwork()
		<-time.After(timeout/3 + command/2)
		if err := h.Err(); err != nil {
			r.Fatal(err)
		}
		if moved := h.ValidUntil().Sub(until); moved > timeout/10 {
			r.Errorf("ValidUntil moved by %v without a network", moved)
		}
		s.ReconnectNetwork()
		r.renewed(h, timeout)
		r.Redial()
		if count := r.Text("HGET", h.Name(), h.Owner()); count != "1" {
			r.Errorf("count %q", count)
		}
		r.outside(waiter)
		r.Unlock(h)
		r.Unlock(r.Entered(waiter).Hold)
	})
	on(t, s).part("beyond the lease: the hold is told on time, the waiter enters when it heals", func(r *rig) {
		const timeout = 4 * time.Second
		h, waiter := r.heldAndAwaited(timeout, rlock.WithCommandTimeout(command))
		r.renewed(h, timeout)
		s.CutNetwork()
		r.toldOnTime(h)
		<-time.After(timeout)
		r.outside(waiter)
		healing := time.Now()
		s.ReconnectNetwork()
		e := r.Entered(waiter)
		between(r, "entering", e.At.Sub(healing), 0, 10*time.Second)
		r.Redial()
		r.passedOn(h, e)
	})
	on(t, s).part("under way to an unlock: it is repeated until it is answered", func(r *rig) {
		name := r.name()
		h := r.Lock(r.open(rlock.WithCommandTimeout(command)).NewLock(name))
		s.CutNetwork()
		released := make(chan error, 1)
		go func() { released <- h.Unlock(r.Context()) }()
		<-time.After(2 * command)
		s.ReconnectNetwork()
		if err := testbed.Receive(r, "the unlock", released); err != nil {
			r.Error(err)
		}
		r.Redial()
		if r.Number("EXISTS", name) != 0 {
			r.Error("still locked")
		}
	})
}
