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
		n, ok, err = o.tryRead(p)
	}
	return n, ok, err
}

func TestAPolledReadTakesWhatIsThere(t *testing.T) {
	near, far := dialPair(t)
	o := newPoller(near)
	far.Write([]byte("+OK\r\n"))
	p := make([]byte, 100)
	n, ok, err := untilOK(o, p)
	if !ok || err != nil || string(p[:n]) != "+OK\r\n" {
		t.Fatalf("%q, ok %v, %v", p[:n], ok, err)
	}
}

func TestOnlyWhereItPaysIsAReplyPolledFor(t *testing.T) {
	near, far := dialPair(t)
	o := newPoller(near)
	polled := 0
	ask := o.ask
	o.ask = func(fd uintptr) bool {
		polled++
		return ask(fd)
	}
	p := make([]byte, 100)
	for _, pays := range []bool{false, true} {
		o.choice = pollChoice{reads: 2 * trialReads, pays: pays}
		far.Write([]byte("+OK\r\n"))
		if n, err := o.read(p); err != nil || string(p[:n]) != "+OK\r\n" {
			t.Fatalf("pays %v: %q, %v", pays, p[:n], err)
		}
		if (polled == 1) != pays {
			t.Errorf("pays %v: polled %d times", pays, polled)
		}
	}
	if o.choice.reads != 2*trialReads+1 {
		t.Errorf("the choice was told of %d reads", o.choice.reads-2*trialReads)
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
	if _, ok, err := newPoller(near).tryRead(p); !ok || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past its deadline: ok %v, %v", ok, err)
	}

	near, _ = dialPair(t)
	near.Close()
	if _, ok, err := newPoller(near).tryRead(p); !ok || !errors.Is(err, net.ErrClosed) {
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
