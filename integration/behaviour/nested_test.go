package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// nesting is an owner's holds of one lock under watch.
type nesting struct {
	*rig
	l *rlock.Lock
	p *promises
}

const (
	// beat is what the leases here are counted in: a stall of the machine is some hundreds.
	beat          = 4 * time.Millisecond
	nestedTimeout = 1500 * beat // of the watchdog in these tests
)

func nest(t *testing.T, server *rig) *nesting {
	r := on(t, server.Server)
	l := r.open(rlock.WithWatchdogTimeout(nestedTimeout)).NewLock(r.name())
	return &nesting{r, l, promisesOf(r, l.Name())}
}

func (n *nesting) in(opts ...rlock.AcquireOption) *rlock.Hold {
	n.Helper()
	return n.p.promised(n.Lock(n.l, opts...))
}

// inFor acquires with a fixed lease.
func (n *nesting) inFor(d time.Duration, opts ...rlock.AcquireOption) *rlock.Hold {
	n.Helper()
	return n.p.promised(n.Lock(n.l, append(opts, rlock.Lease(d))...))
}

func (n *nesting) out(h *rlock.Hold) {
	n.Helper()
	n.Unlock(n.p.withdrawn(h))
}

func (n *nesting) pass(d time.Duration) { <-time.After(d) }

func TestNestedLeasesKeepEveryPromise(t *testing.T) {
	t.Parallel()
	server := start(t)
	for _, row := range []struct {
		behaviour string
		do        func(n *nesting)
	}{
		{"a short fixed lease inside one of the watchdog", func(n *nesting) {
			outer := n.in()
			inner := n.inFor(400*beat, rlock.As(outer.Owner()))
			n.pass(100 * beat)
			n.out(inner)
			n.pass(2 * nestedTimeout) // the renewal goes on
			n.out(outer)
		}},
		{"a fixed lease that runs out inside one of the watchdog", func(n *nesting) {
			outer := n.in()
			inner := n.inFor(1000*beat, rlock.As(outer.Owner()))
			until := inner.ValidUntil()
			n.pass(time.Until(until) - 400*beat)
			n.p.withdrawn(inner)
			n.toldOnTime(inner)
			n.pass(2 * nestedTimeout)
			if err := outer.Err(); err != nil {
				n.Error(err)
			}
			// Its unlock still takes its count off, and nothing of the outer's.
			err := inner.Unlock(n.Context())
			wants(n, err, rlock.ErrLeaseLost)
			wants(n, err, rlock.ErrNotHeld)
			if count := n.Number("HGET", n.l.Name(), outer.Owner()); count != 1 {
				n.Errorf("count %d", count)
			}
			n.pass(nestedTimeout)
			n.out(outer)
		}},
		{"a long fixed lease inside one of the watchdog", func(n *nesting) {
			outer := n.in()
			inner := n.inFor(4*nestedTimeout, rlock.As(outer.Owner()))
			n.pass(2 * nestedTimeout) // renewals come and must not shorten it
			n.out(outer)
			n.pass(nestedTimeout)
			n.out(inner)
		}},
		{"a watchdog's hold inside a long fixed lease", func(n *nesting) {
			outer := n.inFor(4 * nestedTimeout)
			inner := n.in(rlock.As(outer.Owner()))
			n.pass(nestedTimeout)
			n.out(inner)
			n.pass(2 * nestedTimeout) // not renewed any more, and not cut either
			n.out(outer)
		}},
		{"a watchdog's hold that outlives the fixed lease around it", func(n *nesting) {
			outer := n.inFor(nestedTimeout)
			inner := n.in(rlock.As(outer.Owner()))
			n.pass(nestedTimeout / 2)
			n.out(outer)
			n.pass(2 * nestedTimeout)
			if err := inner.Err(); err != nil {
				n.Error(err)
			}
			n.out(inner)
		}},
		{"a hold with MaxHold around a fixed lease", func(n *nesting) {
			outer := n.in(rlock.MaxHold(10000 * beat))
			inner := n.inFor(500*beat, rlock.As(outer.Owner()))
			n.pass(200 * beat)
			n.out(inner)
			n.pass(nestedTimeout)
			n.out(outer)
		}},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			t.Parallel()
			n := nest(t, server)
			row.do(n)
			if n.Number("EXISTS", n.l.Name()) != 0 {
				t.Error("still locked")
			}
		})
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	server := start(t)
	extend := func(n *nesting, h *rlock.Hold, d time.Duration) {
		n.Helper()
		asked := time.Now()
		if err := h.Extend(n.Context(), d); err != nil {
			n.Fatal(err)
		}
		answered := time.Now()
		if until, trusted := h.ValidUntil(), d-d/100; until.Before(asked.Add(trusted-2*time.Millisecond)) || until.After(answered.Add(trusted+time.Millisecond)) {
			n.Errorf("valid for %v after it was extended by %v", until.Sub(asked), d)
		}
	}
	for _, row := range []struct {
		behaviour string
		do        func(n *nesting)
	}{
		{"longer", func(n *nesting) {
			h := n.inFor(700 * beat)
			for range 5 {
				n.pass(300 * beat)
				extend(n, h, 800*beat)
			}
			n.out(h)
		}},
		{"shorter", func(n *nesting) {
			h := n.inFor(time.Minute)
			n.pass(250 * beat)
			extend(n, n.p.withdrawn(h), 900*beat)
			if left := n.PTTL(n.l.Name()); left > 900*beat {
				n.Errorf("PTTL %v", left)
			}
			n.p.promised(h)
			n.pass(200 * beat)
			n.p.withdrawn(h)
			testbed.Receive(n.rig, "its end", h.Done())
			wants(n, h.Err(), rlock.ErrLeaseLost)
			n.Becomes("the key is gone", func() bool { return n.Number("EXISTS", n.l.Name()) == 0 })
			err := h.Extend(n.Context(), 1000*beat)
			wants(n, err, rlock.ErrLeaseLost)
			wants(n, err, rlock.ErrNotHeld)
		}},
		{"the inner of a pair keeps the outer's promise", func(n *nesting) {
			outer := n.inFor(5000 * beat)
			inner := n.inFor(1000*beat, rlock.As(outer.Owner()))
			extend(n, inner, 2000*beat)
			n.pass(300 * beat)
			extend(n, n.p.withdrawn(inner), 1200*beat)
			n.p.promised(inner)
			n.pass(200 * beat)
			n.out(inner)
			n.pass(300 * beat)
			n.out(outer)
		}},
		{"the outer of a pair keeps the inner's promise", func(n *nesting) {
			outer := n.inFor(1000 * beat)
			inner := n.inFor(4000*beat, rlock.As(outer.Owner()))
			extend(n, n.p.withdrawn(outer), 1200*beat)
			n.p.promised(outer)
			n.pass(400 * beat)
			n.out(outer)
			n.pass(500 * beat)
			n.out(inner)
		}},
		{"a fixed lease inside one of the watchdog", func(n *nesting) {
			outer := n.in()
			inner := n.inFor(500*beat, rlock.As(outer.Owner()))
			extend(n, inner, 3*nestedTimeout)
			n.pass(nestedTimeout)
			extend(n, n.p.withdrawn(inner), 900*beat)
			n.p.promised(inner)
			n.pass(150 * beat)
			n.out(inner)
			n.pass(2 * nestedTimeout)
			n.out(outer)
		}},
		{"of a released hold is ErrReleased", func(n *nesting) {
			h := n.inFor(1000 * beat)
			n.pass(300 * beat)
			n.out(h)
			wants(n, h.Extend(n.Context(), 1000*beat), rlock.ErrReleased)
		}},
		{"of a key that is gone is a loss", func(n *nesting) {
			h := n.inFor(time.Minute)
			n.pass(300 * beat)
			n.p.withdrawn(h)
			n.Do("DEL", n.l.Name())
			err := h.Extend(n.Context(), 1000*beat)
			wants(n, err, rlock.ErrLeaseLost)
			wants(n, err, rlock.ErrNotHeld)
			wants(n, h.Err(), rlock.ErrLeaseLost)
			testbed.Receive(n.rig, "Done", h.Done())
		}},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			t.Parallel()
			n := nest(t, server)
			row.do(n)
			if n.Number("EXISTS", n.l.Name()) != 0 {
				t.Error("still locked")
			}
		})
	}
}
