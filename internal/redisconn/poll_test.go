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

// untilOK reads until what was sent has come.
func untilOK(o *poller, p []byte) (n int, ok bool, err error) {
	for end := time.Now().Add(10 * time.Second); !ok && time.Now().Before(end); {
		n, ok, err = o.tryRead(p)
	}
	return n, ok, err
}

func TestAPolledReadTakesWhatIsThere(t *testing.T) {
	near, far := dialPair(t)
	o := newPoller(newSocket(near))
	far.Write([]byte("+OK\r\n"))
	p := make([]byte, 100)
	n, ok, err := untilOK(o, p)
	if !ok || err != nil || string(p[:n]) != "+OK\r\n" {
		t.Fatalf("%q, ok %v, %v", p[:n], ok, err)
	}
}

func TestOnlyWhereItPaysIsAReplyPolledFor(t *testing.T) {
	near, far := dialPair(t)
	o := newPoller(newSocket(near))
	polled := 0
	ask := o.ask
	o.ask = func(fd uintptr) bool {
		polled++
		return ask(fd)
	}
	p := make([]byte, 100)
	for _, pays := range []bool{false, true} {
		o.choice = pollChoice{decided: 2, pays: pays}
		far.Write([]byte("+OK\r\n"))
		if n, err := o.read(p, true); err != nil || string(p[:n]) != "+OK\r\n" {
			t.Fatalf("pays %v: %q, %v", pays, p[:n], err)
		}
		if (polled == 1) != pays {
			t.Errorf("pays %v: polled %d times", pays, polled)
		}
	}
	if o.choice.decided != 1 {
		t.Errorf("%d reads to the next trial, want 1", o.choice.decided)
	}
}

func TestAPolledReadTellsTheEnd(t *testing.T) {
	p := make([]byte, 100)
	near, far := dialPair(t)
	far.Close()
	if _, ok, err := untilOK(newPoller(newSocket(near)), p); !ok || err != io.EOF {
		t.Errorf("closed over there: ok %v, %v", ok, err)
	}

	near, far = dialPair(t)
	far.SetLinger(0)
	far.Close()
	_, ok, err := untilOK(newPoller(newSocket(near)), p)
	var op *net.OpError
	if !ok || !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) {
		t.Errorf("reset: ok %v, %v", ok, err)
	}

	near, _ = dialPair(t)
	near.SetReadDeadline(time.Now().Add(-time.Second))
	if _, ok, err := newPoller(newSocket(near)).tryRead(p); !ok || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past its deadline: ok %v, %v", ok, err)
	}

	near, _ = dialPair(t)
	near.Close()
	if _, ok, err := newPoller(newSocket(near)).tryRead(p); !ok || !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed here: ok %v, %v", ok, err)
	}
}

func TestOnlyExpectedRepliesArePolledFor(t *testing.T) {
	near, far := dialPair(t)
	c := &Conn{guard: &guard{Conn: near, socket: newSocket(near)}}
	c.Manage()
	polled := 0
	ask := c.guard.poll.ask
	c.guard.poll.ask = func(fd uintptr) bool {
		polled++
		return ask(fd)
	}
	for _, how := range []Wait{Sleep, Try} {
		far.Write([]byte(":7\r\n"))
		err := c.Fill(how)
		if reply, ok, nerr := c.Next(); err != nil || nerr != nil || !ok || reply != int64(7) {
			t.Fatalf("how %v: %v, %v, %v, %v", how, reply, ok, err, nerr)
		}
		if (polled == 1) != (how == Try) {
			t.Errorf("how %v: polled %d times", how, polled)
		}
	}
}
