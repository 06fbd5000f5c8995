package virtual_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The lease of an unlock that is repeated ends while no server can be reached. What became of the repetition must not be read
// before its end, which the race detector sees. It takes real seconds: in a bubble, where all that happens has an order, the
// detector sees no race of two instants.
func TestRepetitionIsNotReadBeforeItsEnd(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := &rig{T: t, world: simnet.New(1)}
	var s *simredis.Set
	r.at(func() { s = simredis.NewSet(r.world, 2, 3) })
	time.Sleep(time.Second) // the Sentinels find each other, and the replicas follow
	c := must(rlock.Open(ctx, s.URL(), rlock.WithCommandTimeout(300*time.Millisecond), rlock.WithDialer(r.world.Dialer(host(1)))))(r)
	defer c.Close()
	must(0, must(c.NewLock("orders").Lock(ctx, rlock.Lease(2*time.Second)))(r).Unlock(ctx))(r)
	r.at(func() {
		s.Failover()
		for _, server := range s.Servers {
			r.world.Block(host(1), server.Addr, true)
		}
	})
	_, _ = c.NewLock("other").IsLocked(ctx) // so that it learns of the next master
	time.Sleep(5 * time.Second)
}

// standstill is a connection of a client. The reply of the next script that is sent on any is lost, and the server stands
// still with the repetition in its socket.
type standstill struct {
	net.Conn
	r     *rig
	armed *atomic.Bool
	sent  *atomic.Int32 // scripts since
	loses atomic.Bool
}

func (c *standstill) Write(b []byte) (int, error) {
	if c.armed.Load() && bytes.Contains(b, []byte("EVALSHA")) {
		switch c.sent.Add(1) {
		case 1:
			c.loses.Store(true)
		case 2:
			c.r.at(func() { c.r.server.Paused = true })
		}
	}
	return c.Conn.Write(b)
}

func (c *standstill) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.loses.Load() {
		c.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// A server stands still for longer than the client waits, just when a repetition is in its socket. The change that ran before
// counts once all the same.
func TestRepetitionThatAServerFindsMuchLaterCountsOnce(t *testing.T) {
	ctx := context.Background()
	var inner *rlock.Hold
	for what, row := range map[string]struct {
		set  func(r *rig, c *rlock.Client)
		call func(c *rlock.Client) error
		want string
	}{
		"release": {func(r *rig, c *rlock.Client) { r.do("SET", "it", "5") },
			func(c *rlock.Client) error { return c.NewSemaphore("it").Release(ctx, 2) }, "7"},
		"add": {func(r *rig, c *rlock.Client) { r.do("SET", "it", "5") },
			func(c *rlock.Client) error { return c.NewPermitSemaphore("it").AddPermits(ctx, 2) }, "7"},
		"count down": {func(r *rig, c *rlock.Client) { r.do("SET", "it", "5") },
			func(c *rlock.Client) error { return c.NewCountDownLatch("it").CountDown(ctx) }, "4"},
		"unlock of a nested hold": {func(r *rig, c *rlock.Client) {
			outer := must(c.NewLock("it").TryLock(ctx))(r)
			inner = must(c.NewLock("it").TryLock(ctx, rlock.As(outer.Owner())))(r)
		}, func(*rlock.Client) error { return inner.Unlock(ctx) }, "1"},
	} {
		for _, still := range []time.Duration{2750 * time.Millisecond, 20 * time.Second, 29 * time.Second} {
			t.Run(fmt.Sprint(what, ", for ", still), func(t *testing.T) {
				inBubble(t, func(r *rig) {
					var armed atomic.Bool
					var sent atomic.Int32
					dial := r.world.Dialer(host(1))
					c := must(rlock.Open(ctx, "redis://"+address, rlock.WithCommandTimeout(250*time.Millisecond),
						rlock.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
							conn, err := dial(ctx, network, addr)
							return &standstill{Conn: conn, r: r, armed: &armed, sent: &sent}, err
						})))(r)
					defer c.Close()
					for _, script := range []*luasrc.Script{luasrc.SemaphoreChangeScript, luasrc.PermitSetScript, luasrc.CountDownScript, luasrc.UnlockToScript} {
						r.do("SCRIPT", "LOAD", script.Source)
					}
					row.set(r, c)
					armed.Store(true)
					go func() { _ = row.call(c) }()
					r.pass(still)
					armed.Store(false)
					r.at(func() { r.server.Resume() })
					r.pass(5 * time.Second)
					r.at(func() {
						got, _ := r.server.Value("it")
						for _, field := range r.server.Fields("it") {
							got, _ = r.server.Field("it", field)
						}
						if got != row.want || sent.Load() < 2 {
							t.Errorf("there is %q, not %s; %d scripts were sent", got, row.want, sent.Load())
						}
					})
				})
			})
		}
	}
}
