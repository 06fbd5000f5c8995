package locks

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// standstill makes connections of which one loses the reply of a command after it ran. Then the
// server stands still, with the repetition of the command in its socket.
type standstill struct {
	server *redistest.Server
	text   atomic.Pointer[[]byte] // text of that command
	writes atomic.Int32           // writes of the command
	still  chan struct{}          // closed when the server stands still
}

func (s *standstill) connect(ctx context.Context) (redis.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", s.server.Addr())
	if err != nil {
		return nil, err
	}
	return redis.NewConn(&stalling{Conn: conn, s: s}, time.Second, time.Second), nil
}

type stalling struct {
	net.Conn
	s     *standstill
	loses atomic.Bool
}

func (c *stalling) Write(b []byte) (int, error) {
	if text := c.s.text.Load(); text != nil && bytes.Contains(b, *text) {
		switch c.s.writes.Add(1) {
		case 1:
			c.loses.Store(true)
		case 2:
			c.s.server.Pause()
			defer close(c.s.still)
		}
	}
	return c.Conn.Write(b)
}

func (c *stalling) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.loses.Load() {
		c.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// A server may stand still for longer than the client waits, just when a repetition is in its
// socket. The change that ran before still counts once.
func TestRepetitionThatAServerFindsMuchLaterCountsOnce(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some timeouts pass")
	changes := func(c *Client, k kind.Kind, call func(*kind.Want) kind.Call) {
		l := c.NewLock(k, "it", "it")
		_, _ = Change(context.Background(), &l, true, call)
	}
	for name, tc := range map[string]struct {
		script *luasrc.Script
		before func(*testing.T, *Client) (call func())
		get    []any
		want   string
	}{
		"release": {luasrc.SemaphoreChangeScript, func(_ *testing.T, c *Client) func() {
			return func() {
				changes(c, kind.Semaphore(1), func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, luasrc.GiveBack, 2, 0) })
			}
		}, []any{"GET", "it"}, "7"},
		"add": {luasrc.PermitSetScript, func(_ *testing.T, c *Client) func() {
			return func() { changes(c, kind.Permits(1), setting(luasrc.MorePermits, 2)) }
		}, []any{"GET", "it"}, "7"},
		"count down": {luasrc.CountDownScript, func(_ *testing.T, c *Client) func() {
			return func() {
				changes(c, kind.CountDownLatch, func(w *kind.Want) kind.Call { return kind.CountDown(w, luasrc.DownByOne, 0) })
			}
		}, []any{"GET", "it"}, "4"},
		"unlock of a nested hold": {luasrc.UnlockToScript, func(t *testing.T, c *Client) func() {
			l := c.NewLock(kind.Reentrant, "nested", "nested")
			terms := Terms{As: true, Owner: c.NewOwner()}
			for entered := 0; ; { // on a busy machine an acquire may time out
				w := NewWaiter(&l)
				w.Terms = terms
				if err := w.Start(); err != nil {
					t.Fatal(err)
				}
				inner, err := w.Result(t.Context(), w.Await(t.Context()))
				if err != nil {
					t.Log(err)
					continue
				}
				if entered++; entered == 2 {
					return func() { _ = Unlock(context.Background(), inner) }
				}
			}
		}, []any{"HVALS", "nested"}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &standstill{server: redistest.Start(t), still: make(chan struct{})}
			conn := s.server.Dial(t)
			do(t, conn, "SET", "it", 5)
			do(t, conn, "SCRIPT", "LOAD", tc.script.Source)
			o := config()
			o.Timeout = timeout
			o.Topology = dials(s.connect).topology
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			call := tc.before(t, c)
			text := []byte(tc.script.SHA1)
			s.text.Store(&text)
			called := make(chan struct{})
			go func() {
				defer close(called)
				call()
			}()
			<-s.still
			time.Sleep(5*timeout + 1500*time.Millisecond) // longer than receipts once lived
			s.server.Resume()
			<-called
			redistest.Becomes(t, "it ends", func() bool { _, open := c.UnderWay(); return open == 0 })
			first := func() string {
				reply := do(t, conn, tc.get[0].(string), tc.get[1:]...)
				if many, ok := reply.([]any); ok && len(many) == 1 {
					reply = many[0]
				}
				text, _ := redis.String(reply, nil)
				return text
			}
			if got := first(); got != tc.want {
				t.Errorf("there is %q, want %s", got, tc.want)
			}
		})
	}
}
