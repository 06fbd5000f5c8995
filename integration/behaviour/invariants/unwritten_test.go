package invariants

import (
	"bytes"
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// stuckWrites makes connections whose writes block if they name a lock, until letGo is closed.
type stuckWrites struct {
	lock    []byte
	reached chan struct{} // closed by the first such write
	letGo   chan struct{}
	once    sync.Once
}

type stuckConn struct {
	net.Conn
	s        *stuckWrites
	deadline atomic.Pointer[time.Time]
}

func (c *stuckConn) SetWriteDeadline(t time.Time) error {
	c.deadline.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

func (c *stuckConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, c.s.lock) {
		c.s.once.Do(func() { close(c.s.reached) })
		select {
		case <-c.s.letGo:
		case <-time.After(time.Until(*c.deadline.Load())):
			return 0, os.ErrDeadlineExceeded
		}
	}
	return c.Conn.Write(b)
}

// openStuck opens a client on a pool of connections with stuckWrites.
func (r *rig) openStuck(lock string, timeout time.Duration) (client, *stuckWrites) {
	r.Helper()
	s := &stuckWrites{lock: []byte(lock), reached: make(chan struct{}), letGo: make(chan struct{})}
	dial := redis.DialContextFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := r.Dial(ctx, network, addr)
		return &stuckConn{Conn: conn, s: s}, err
	})
	pool := &redis.Pool{MaxIdle: 2, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", r.Proxy.Addr(), dial, redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}}
	opened, err := rlock.New(pool, rlock.WithCommandTimeout(timeout))
	testbed.Must(r, err)
	c := client{opened, r.kind}
	r.Cleanup(func() { pool.Close() })
	r.Cleanup(func() { c.Close() })
	return c, s
}

// The first try was lost, and the count says that it did not run. The second waits behind a write that does not end: nothing of it
// was sent, and it is taken back when its caller returns.
func TestA5TryThatIsNotWrittenIsNotUncertain(t *testing.T) {
	const other = "elsewhere"
	play(t, func(t *testing.T, r *rig) {
		client, stuck := r.openStuck(other, patient)
		l := client.NewLock(name)
		r.connected(l)
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutBefore})
		settled := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("HGET"), Times: 1, Do: faultproxy.HoldReply})
		got := testbed.Acquire(func() (*rlock.Hold, error) {
			return l.TryLockFor(t.Context(), 2*brief, rlock.As(another(t, "1")))
		})
		r.Hit(settled)
		time.Sleep(timeout / 2) // or the write would time out before the call gives up
		behind := testbed.Acquire(func() (*rlock.Hold, error) { return client.NewLock(other).TryLock(t.Context()) })
		testbed.Receive(t, "the write is stuck", stuck.reached)
		settled.Release()
		unsaid(t, testbed.Receive(t, "the call returns", got).Err, "the wait elapsed")
		close(stuck.letGo)
		if h := testbed.Receive(t, "the other returns", behind).Hold; h != nil {
			unlock(t, h)
		}
		r.connected(l)
		if n := len(r.of("acquire", name)); n != 1 {
			t.Errorf("%d tries were sent, want the first", n)
		}
	})
}
