package locks

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The kinds of these tests are not Redisson's. Each has one trait to be tested, and its own small scripts.

// script is a script for a kind of these tests.
func script(name, source string) *luasrc.Script {
	sum := sha1.Sum([]byte(source))
	return &luasrc.Script{Name: name, Source: source, SHA1: hex.EncodeToString(sum[:])}
}

// run is a call of the script.
func run(s *luasrc.Script, resend kind.Resend, keys []any, args ...any) kind.Call {
	all := append([]any{s.SHA1, len(keys)}, keys...)
	return kind.Call{Name: "EVALSHA", Script: s, Args: append(all, args...), Resend: resend, Writes: true}
}

// taken is how many of n holds an unlock takes; what it leaves is in ARGV from an index on.
const taken = `
	local function taken(n, at)
		local least = tonumber(ARGV[at])
		return n - (ARGV[at + 1] == '1' and least or math.max(least, n - 1))
	end
`

// withLatch are the keys of an unlock: the lock, a second name and the latch, if it has one.
func withLatch(w *kind.Want) []any {
	keys := []any{w.Names[0], w.Names[1]}
	if w.Latch != nil {
		keys = append(keys, w.Latch)
	}
	return keys
}

// left is what an unlock leaves, as arguments.
func left(w *kind.Want) []any {
	if w.Left.Exact {
		return []any{w.Left.Least, 1}
	}
	return []any{w.Left.Least, 0}
}

// dropper makes connections that lose the reply of one command after it ran.
type dropper struct {
	addr string
	text atomic.Pointer[[]byte] // text of that command; nil: nothing is lost
	lost *atomic.Int32          // replies lost so far
}

// drop loses the reply of the next command that contains the text.
func (d *dropper) drop(text string) {
	b := []byte(text)
	d.text.Store(&b)
}

func (d *dropper) connect(ctx context.Context) (redis.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return nil, err
	}
	return redis.NewConn(&dropping{Conn: conn, d: d}, 2*time.Second, 2*time.Second), nil
}

type dropping struct {
	net.Conn
	d     *dropper
	armed atomic.Bool
}

func (c *dropping) Write(b []byte) (int, error) {
	if text := c.d.text.Load(); text != nil && bytes.Contains(b, *text) && c.d.text.CompareAndSwap(text, nil) {
		c.armed.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *dropping) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.armed.Load() {
		c.d.lost.Add(1)
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// openDropping is open with connections that can lose a reply.
func openDropping(t *testing.T, s *redistest.Server) (*Client, *dropper) {
	t.Helper()
	d := &dropper{addr: s.Addr(), lost: new(atomic.Int32)}
	o := config()
	o.Topology = dials(d.connect).topology
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, d
}

// outcome is how a wait ended.
type outcome struct {
	who  int
	hold *Hold
	err  error
}

// wait starts a call that waits, and sends its outcome to ended.
func wait(ctx context.Context, t *testing.T, l *Lock, who int, ended chan<- outcome, terms Terms) *Waiter {
	t.Helper()
	w := NewWaiter(l)
	w.Terms = terms
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		h, err := w.Result(ctx, w.Await(ctx))
		ended <- outcome{who, h, err}
	}()
	return w
}

// next returns the next outcome, which must not be an error.
func next(t *testing.T, ended <-chan outcome) outcome {
	t.Helper()
	select {
	case o := <-ended:
		if o.err != nil {
			t.Fatalf("%d: %v", o.who, o.err)
		}
		return o
	case <-time.After(2 * soon):
		t.Fatal("no wait ends")
	}
	panic("unreachable")
}

// none checks that no wait ends within 200 ms.
func none(t *testing.T, ended <-chan outcome) {
	t.Helper()
	select {
	case o := <-ended:
		t.Fatalf("the wait of %d ended: %v", o.who, o.err)
	case <-time.After(200 * time.Millisecond):
	}
}

// mustUnlock releases h.
func mustUnlock(t testing.TB, h *Hold) {
	t.Helper()
	if err := Unlock(context.Background(), h); err != nil {
		t.Error(err)
	}
}

// do sends a command and returns its reply.
func do(t *testing.T, c redis.Conn, name string, args ...any) any {
	t.Helper()
	reply, err := c.Do(name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return reply
}

// becomes waits until the command's reply is the wanted number.
func becomes(t *testing.T, c redis.Conn, want int64, name string, args ...any) {
	t.Helper()
	redistest.Becomes(t, fmt.Sprintf("%s %v is %d", name, args, want), func() bool { return do(t, c, name, args...) == want })
}
