package timing

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// gate is a dialer whose connections block in Write while it is shut for their address. It counts
// its dials.
type gate struct {
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	dials atomic.Int32

	mu   sync.Mutex // guards shut
	shut map[string]chan struct{}
}

// stall makes writes to addr wait until the returned function is called.
func (g *gate) stall(addr string) (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = map[string]chan struct{}{}
	}
	ch := make(chan struct{})
	g.shut[addr] = ch
	return sync.OnceFunc(func() {
		g.mu.Lock()
		delete(g.shut, addr)
		g.mu.Unlock()
		close(ch)
	})
}

// Dial is a dialer for rlock.WithDialer.
func (g *gate) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	g.dials.Add(1)
	conn, err := g.dial(ctx, network, addr)
	return &gated{Conn: conn, gate: g, addr: addr, over: make(chan struct{})}, err
}

// gated is a connection through a gate.
type gated struct {
	net.Conn
	gate  *gate
	addr  string
	close sync.Once
	over  chan struct{}
}

func (c *gated) Write(p []byte) (int, error) {
	c.gate.mu.Lock()
	shut := c.gate.shut[c.addr]
	c.gate.mu.Unlock()
	if shut != nil {
		select {
		case <-shut:
		case <-c.over:
			return 0, net.ErrClosed
		}
	}
	return c.Conn.Write(p)
}

func (c *gated) Close() error {
	c.close.Do(func() { close(c.over) })
	return c.Conn.Close()
}

// openThrough opens a client whose connections go through g.
func openThrough(t *testing.T, g *gate, url string, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), url, append(opts, rlock.WithDialer(g.Dial))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A write deadline that passes while nothing is written ends no connection.
func TestIdleConnectionsOfADialerStay(t *testing.T) {
	const timeout = 1500 * time.Millisecond
	play(t, func(t *testing.T, s *server) {
		holding, waiting := gate{dial: s.rig.Dial}, gate{dial: s.rig.Dial}
		holder := openThrough(t, &holding, s.URL(), rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(4*time.Second))
		waiter := openThrough(t, &waiting, s.URL(), rlock.WithCommandTimeout(timeout))
		h := lock(t, holder, "held")
		entered := make(chan error, 1)
		go func() {
			h, err := waiter.NewLock("held").Lock(context.Background())
			if err == nil {
				err = h.Unlock(context.Background())
			}
			entered <- err
		}()
		conn := s.Dial(t)
		for end := time.Now().Add(6 * timeout); time.Now().Before(end); time.Sleep(timeout / 5) {
			// Messages replace PINGs, so the subscription connection writes nothing.
			if _, err := conn.Do("PUBLISH", "redisson_lock__channel:{held}", "1"); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Err(); err != nil {
			t.Error(err)
		}
		if n := holding.dials.Load(); n != 2 { // the second gets the invalidations
			t.Errorf("%d dials for one hold", n)
		}
		if n := waiting.dials.Load(); n != 2 {
			t.Errorf("%d dials for one who waits", n)
		}
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
	})
}

// A WAIT that takes longer than the command timeout ends no connection either.
func TestAConnectionOfADialerOutlivesALongWAIT(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		s.replicas(2)
		g := gate{dial: s.rig.Dial}
		c := openThrough(t, &g, s.URL(), rlock.WithReplicaSync(true), rlock.WithCommandTimeout(500*time.Millisecond))
		if err := lock(t, c, "orders").Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := g.dials.Load()
		s.slow()
		began := time.Now()
		if err := lock(t, c, "orders").Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 900*time.Millisecond {
			t.Errorf("both waited for %v", took)
		}
		if n := g.dials.Load() - before; n != 0 {
			t.Errorf("%d connections were made anew", n)
		}
	})
}

// stalledTimeout is how long a stalled write waits if it is not released. A call that must not wait
// for it takes a small part of that.
const stalledTimeout = 12 * time.Second

// A stalled write delays neither Err nor the end of other holds, and nobody enters while a holder's
// context lives.
func TestAWriteThatWaitsHoldsUpNoHold(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		g := gate{dial: s.rig.Dial}
		c := openThrough(t, &g, s.URL(), rlock.WithCommandTimeout(stalledTimeout))
		other := open(t, s)
		// The client sends something when this hold is lost, because a caller waits for its lock.
		first := lock(t, c, "first", rlock.Lease(time.Second))
		waits, stop := context.WithCancel(t.Context())
		defer stop()
		var waiters sync.WaitGroup
		defer waiters.Wait()
		defer stop()
		waiters.Go(func() { _, _ = c.NewLock("first").Lock(waits) })
		waiters.Go(func() { _, _ = c.NewLock("first").Lock(waits) })
		becomes(t, "the waiter listens", func() bool { return g.dials.Load() == 2 })
		second := lock(t, c, "second", rlock.Lease(2*time.Second))
		alive, cancel := second.Context(context.Background())
		defer cancel()
		open := g.stall(s.Addr())
		defer open()
		for err := error(nil); err == nil; {
			began := time.Now()
			err = first.Err()
			if took := time.Since(began); took > 0 {
				t.Fatalf("Err blocked for %v", took)
			}
			time.Sleep(time.Millisecond)
		}
		h, err := other.NewLock("second").TryLockFor(t.Context(), stalledTimeout)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Unlock(context.Background())
		for what, done := range map[string]<-chan struct{}{"Done": second.Done(), "its context": alive.Done()} {
			select {
			case <-done:
			case <-time.After(stalledTimeout / 4):
				t.Errorf("another holds it, and %s says nothing", what)
			}
		}
	})
}

// While a write stalls, calls end with their context, and releases one command timeout after it.
func TestCallsEndInTimeWhileAWriteWaits(t *testing.T) {
	const timeout = stalledTimeout / 3
	for what, call := range map[string]func(ctx context.Context, c *rlock.Client, h *rlock.Hold) error{
		"Lock": func(ctx context.Context, c *rlock.Client, _ *rlock.Hold) error {
			_, err := c.NewLock("a").Lock(ctx)
			return err
		},
		"Lock as": func(ctx context.Context, c *rlock.Client, h *rlock.Hold) error {
			_, err := c.NewLock(h.Name()).Lock(ctx, rlock.As(h.Owner()))
			return err
		},
		"IsLocked": func(ctx context.Context, c *rlock.Client, _ *rlock.Hold) error {
			_, err := c.NewLock("a").IsLocked(ctx)
			return err
		},
		"Unlock": func(ctx context.Context, _ *rlock.Client, h *rlock.Hold) error { return h.Unlock(ctx) },
		"UnlockAs": func(ctx context.Context, c *rlock.Client, _ *rlock.Hold) error {
			return c.NewLock("a").UnlockAs(ctx, c.NewOwner())
		},
		"ForceUnlock": func(ctx context.Context, c *rlock.Client, _ *rlock.Hold) error {
			_, err := c.NewLock("a").ForceUnlock(ctx)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, s *server) {
				g := gate{dial: s.rig.Dial}
				c := openThrough(t, &g, s.URL(), rlock.WithCommandTimeout(timeout))
				h := lock(t, c, "held by "+what)
				time.Sleep(50 * time.Millisecond) // else the reader, still busy with the last reply, would write for the call
				open := g.stall(s.Addr())
				defer open()
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				limit := 200*time.Millisecond + latencies
				if strings.HasPrefix(what, "Unlock") {
					limit += timeout
				}
				began := time.Now()
				err := call(ctx, c, h)
				if took := time.Since(began); took > limit || err == nil {
					t.Errorf("it took %v, at most %v: %v", took, limit, err)
				}
			})
		})
	}
}
