package pubsub

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// fake is a server that a test plays by hand: for what no real server does, or does in an order
// that can't be arranged.
type fake struct {
	t testing.TB
	l net.Listener
}

func newFake(t testing.TB) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &fake{t: t, l: l}
}

func (f *fake) addr() string { return f.l.Addr().String() }

// accept awaits the hub's next connection.
func (f *fake) accept() *peer {
	f.t.Helper()
	f.l.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
	c, err := f.l.Accept()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &peer{t: f.t, c: c, r: bufio.NewReader(c)}
}

type peer struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

// expect reads one command and compares it.
func (p *peer) expect(want string) {
	p.t.Helper()
	if got := p.command(); got != want {
		p.t.Fatalf("the hub sent %q, want %q", got, want)
	}
}

func (p *peer) command() string {
	p.t.Helper()
	var n int
	if _, err := fmt.Fscanf(p.r, "*%d\r\n", &n); err != nil {
		p.t.Fatalf("reading a command: %v", err)
	}
	words := make([]string, n)
	for i := range words {
		var size int
		if _, err := fmt.Fscanf(p.r, "$%d\r\n", &size); err != nil {
			p.t.Fatalf("reading a command: %v", err)
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(p.r, b); err != nil {
			p.t.Fatalf("reading a command: %v", err)
		}
		words[i] = string(b[:size])
	}
	return strings.Join(words, " ")
}

// say sends raw bytes. The hub may have hung up already, which is fine.
func (p *peer) say(raw string) { io.WriteString(p.c, raw) }

// push sends an array of strings; an argument that begins with ":" is a number.
func (p *peer) push(words ...string) { p.say(array(words...)) }

func array(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		if strings.HasPrefix(w, ":") {
			fmt.Fprintf(&b, "%s\r\n", w)
		} else {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	return b.String()
}
