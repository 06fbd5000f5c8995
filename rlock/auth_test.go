package rlock_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// forgetful is a connection whose server can be made to forget its account, as some services do when a password's time
// is over: by a RESET, of whose reply the client sees nothing.
type forgetful struct {
	net.Conn
	read []byte // what the client has not read so far; of one reader

	mu         sync.Mutex // guards what follows
	reset      bool       // the reply of a RESET is to come
	subscribes bool
	inUse      bool // it is beyond its handshake
}

func (c *forgetful) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock() // a RESET is between two writes
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
	_, _ = c.Conn.Write([]byte("*1\r\n$5\r\nRESET\r\n")) // one that is closed forgets nothing
}

// resetReply may come between other replies, and in parts.
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

// withheld takes the reply of a RESET out of what was read, and is how much of the rest may be the beginning of it.
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

// forgetfuls are all connections that were made.
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

// forget has the server forget the account of those that subscribe, or of the others.
func (f *forgetfuls) forget(subscriptions bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.all {
		c.forget(subscriptions)
	}
}

// A connection whose account the server has forgotten is given up, and the next one gives credentials.
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
			// A connection that forgot is found out by its PING, which comes each half of a command timeout.
			c, err := rlock.Open(t.Context(), at, rlock.WithCommandTimeout(6*time.Second), rlock.WithDialer(conns.dial))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			other, err := rlock.Open(t.Context(), at, patient)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
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
			case <-time.After(3 * soonEnough): // before it would look
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

// subscribed waits until a client listens for the release.
func subscribed(t *testing.T, l *rlock.Lock) {
	t.Helper()
	becomes(t, "somebody waits", func() bool { info, err := l.Info(t.Context()); return err == nil && info.Waiters > 0 })
}
