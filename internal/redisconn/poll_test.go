//go:build unix

package redisconn

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// dialPair is both ends of a TCP connection.
func dialPair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); fc.Close() })
	return nc.(*net.TCPConn), fc.(*net.TCPConn)
}

// untilOK reads until what was sent has come.
func untilOK(o *poller, p []byte) (n int, ok bool, err error) {
	for end := time.Now().Add(10 * time.Second); !ok && time.Now().Before(end); {
		o.skip = 0
		n, ok, err = o.read(p)
	}
	return n, ok, err
}

func TestAPolledReadTakesWhatIsThere(t *testing.T) {
	near, far := dialPair(t)
	o := newPoller(near)
	o.misses = 3
	far.Write([]byte("+OK\r\n"))
	p := make([]byte, 100)
	n, ok, err := untilOK(o, p)
	if !ok || err != nil || string(p[:n]) != "+OK\r\n" {
		t.Fatalf("%q, ok %v, %v", p[:n], ok, err)
	}
	if o.misses != 0 {
		t.Error("a reply that came is no end to the misses")
	}
}

func TestAFarServerIsSeldomPolled(t *testing.T) {
	near, _ := dialPair(t)
	o := newPoller(near)
	const reads = 1000
	polled := 0
	ask := o.ask
	o.ask = func(fd uintptr) bool {
		polled++
		return ask(fd)
	}
	p := make([]byte, 100)
	for range reads {
		if _, ok, err := o.read(p); ok || err != nil {
			t.Fatalf("ok %v, %v, where nothing came", ok, err)
		}
	}
	if polled < reads/64 || polled > reads/64+mostMisses {
		t.Errorf("%d of %d replies were polled for", polled, reads)
	}
}

func TestAPolledReadTellsTheEnd(t *testing.T) {
	p := make([]byte, 100)
	near, far := dialPair(t)
	far.Close()
	if _, ok, err := untilOK(newPoller(near), p); !ok || err != io.EOF {
		t.Errorf("closed over there: ok %v, %v", ok, err)
	}

	near, far = dialPair(t)
	far.SetLinger(0)
	far.Close()
	_, ok, err := untilOK(newPoller(near), p)
	var op *net.OpError
	if !ok || !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) {
		t.Errorf("reset: ok %v, %v", ok, err)
	}

	near, _ = dialPair(t)
	near.SetReadDeadline(time.Now().Add(-time.Second))
	if _, ok, err := newPoller(near).read(p); !ok || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past its deadline: ok %v, %v", ok, err)
	}

	near, _ = dialPair(t)
	near.Close()
	if _, ok, err := newPoller(near).read(p); !ok || !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed here: ok %v, %v", ok, err)
	}
}

func TestOnlyExpectedRepliesArePolledFor(t *testing.T) {
	near, far := dialPair(t)
	g := &guard{Conn: near, after: func() {}, poll: newPoller(near)}
	g.managed.Store(true)
	polled := 0
	ask := g.poll.ask
	g.poll.ask = func(fd uintptr) bool {
		polled++
		return ask(fd)
	}
	p := make([]byte, 100)
	for _, expected := range []bool{false, true} {
		g.before = func() bool { return expected }
		far.Write([]byte("+OK\r\n"))
		if n, err := g.Read(p); err != nil || string(p[:n]) != "+OK\r\n" {
			t.Fatalf("expected %v: %q, %v", expected, p[:n], err)
		}
		if (polled == 1) != expected {
			t.Errorf("expected %v: polled %d times", expected, polled)
		}
	}
}
