package rlock_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// forgetful is a connection whose server can be made to forget the connection's account, as some services do when a
// password expires. The test sends a RESET, and hides its reply from the client.
type forgetful struct {
	net.Conn
	read []byte // received, but not yet read by the client; used by one reader

	mu         sync.Mutex // guards the fields below
	reset      bool       // the reply to a RESET is still expected
	subscribes bool
	inUse      bool // the handshake is over
}

func (c *forgetful) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock() // a RESET must not split a write
	c.subscribes = c.subscribes || bytes.Contains(p, []byte("SUBSCRIBE"))
	c.inUse = c.inUse || c.subscribes || bytes.Contains(p, []byte("EVALSHA"))
	return c.Conn.Write(p)
}

func (c *forgetful) forget(subscriptions bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inUse || c.subscribes != subscriptions {
		return
	}
	c.reset = true
	_, _ = c.Conn.Write([]byte("*1\r\n$5\r\nRESET\r\n")) // a closed connection has nothing to forget
}

// resetReply may arrive between other replies, and in pieces.
var resetReply = []byte("+RESET\r\n")

func (c *forgetful) Read(p []byte) (int, error) {
	for {
		withheld := c.withheld()
		if n := len(c.read) - withheld; n > 0 {
			n = copy(p, c.read[:n])
			c.read = c.read[n:]
			return n, nil
		}
		more := make([]byte, 4096)
		n, err := c.Conn.Read(more)
		c.read = append(c.read, more[:n]...)
		if err != nil {
			return 0, err
		}
	}
}

// withheld removes the reply to a RESET from what was read, and returns how much of the end may be its beginning.
func (c *forgetful) withheld() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reset {
		return 0
	}
	if before, after, whole := bytes.Cut(c.read, resetReply); whole {
		c.read, c.reset = append(before[:len(before):len(before)], after...), false
		return 0
	}
	for n := len(resetReply) - 1; n > 0; n-- {
		if bytes.HasSuffix(c.read, resetReply[:n]) {
			return n
		}
	}
	return 0
}

// forgetfuls keeps all connections that its dial made.
type forgetfuls struct {
	mu  sync.Mutex
	all []*forgetful
}

func (f *forgetfuls) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &forgetful{Conn: conn}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, c)
	return c, nil
}

// forget makes the server forget the account of the subscription connections, or of the others.
func (f *forgetfuls) forget(subscriptions bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.all {
		c.forget(subscriptions)
	}
}

// The client drops a connection whose account is forgotten, and sends credentials on the next one. No call fails.
func TestNoAuthOnALivingConnectionIsNobodysError(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a PING of an idle connection comes")
	var beside redistest.Parts
	defer beside.Wait()
	for topology, url := range map[string]func(t *testing.T) string{
		"one server": func(t *testing.T) string {
			s := redistest.Start(t, "--requirepass", "mellon")
			return "redis://:mellon@" + s.Addr()
		},
		"cluster": func(t *testing.T) string {
			c := topologytest.StartReplicated(t, 1)
			for _, s := range c.Servers {
				if _, err := s.Dial(t).Do("CONFIG", "SET", "requirepass", "mellon", "masterauth", "mellon"); err != nil {
					t.Fatal(err)
				}
			}
			return strings.Replace(c.ClusterURL(), "://", "://:mellon@", 1)
		},
	} {
		beside.Run(t, topology, func(t *testing.T) {
			var conns forgetfuls
			at := url(t)
			// The client notices it by a PING, which it sends every half command timeout.
			c := openWith(t, at, rlock.WithCommandTimeout(6*time.Second), rlock.WithDialer(conns.dial))
			other := openWith(t, at, patient)
			l := c.NewLock("orders")
			h, err := other.NewLock("orders").Lock(t.Context(), rlock.Lease(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			entered := make(chan error, 1)
			go func() { entered <- l.Do(t.Context(), func(context.Context) error { return nil }) }()
			subscribed(t, l)
			conns.forget(true)
			if err := h.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			select {
			case err := <-entered:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(3 * soonEnough): // before it would poll by itself
				t.Error("the waiter does not enter")
			}
			conns.forget(false)
			if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
			conns.forget(false)
			if _, err := l.IsLocked(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// subscribed waits until a client is subscribed to the lock's releases.
func subscribed(t *testing.T, l *rlock.Lock) {
	t.Helper()
	becomes(t, "somebody waits", func() bool { info, err := l.Info(t.Context()); return err == nil && info.Waiters > 0 })
}
