package simnet

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// echo is a server that sends back what it gets, and notes what has happened.
type echo struct {
	down, silent bool
	deaf         bool // it reads nothing
	peers        []*Peer
	got          string
	closed       int
}

func (e *echo) Up() (up, silent bool) { return !e.down, e.silent }
func (e *echo) Accept(p *Peer)        { e.peers = append(e.peers, p); p.Hold(e.deaf) }
func (e *echo) Input(p *Peer, b []byte) {
	e.got += string(b)
	p.Send(b)
}
func (e *echo) Closed(*Peer) { e.closed++ }

func played(t *testing.T, f func(t *testing.T, w *World, e *echo)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, e := New(1), &echo{}
		w.Listen("10.0.0.1:6379", e)
		f(t, w, e)
	})
}

func (w *World) under(f func()) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	f()
}

func dialed(t *testing.T, w *World) *Conn {
	t.Helper()
	c, err := w.Dialer("10.1.0.1")(t.Context(), "tcp", "10.0.0.1:6379")
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Conn)
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("wrote %d: %v", n, err)
	}
}

func read(t *testing.T, c net.Conn, n int) string {
	t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestConnectionBreaksAtTheByteThatWasNamed(t *testing.T) {
	for _, up := range []bool{true, false} {
		played(t, func(t *testing.T, w *World, e *echo) {
			c := dialed(t, w)
			w.under(func() { c.BreakAfter(up, 3) })
			write(t, c, "abcdef")
			b, err := io.ReadAll(c)
			if want := map[bool]string{true: "abc", false: "abcdef"}[up]; e.got != want {
				t.Errorf("up %v: the server got %q, want %q", up, e.got, want)
			}
			if !up && string(b) != "abc" || e.closed != 1 {
				t.Errorf("up %v: the client got %q, %v; closed %d", up, b, err, e.closed)
			}
		})
	}
}

func TestResetAndEndAreToldApart(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		reset, ended := dialed(t, w), dialed(t, w)
		w.under(func() { reset.Reset(); ended.Finish() })
		if _, err := reset.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("behind a reset: %v", err)
		}
		if _, err := reset.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write behind a reset: %v", err)
		}
		if _, err := ended.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("behind the end: %v", err)
		}
		write(t, ended, "x") // the kernel takes it, and gets a reset
		time.Sleep(time.Second)
		if _, err := ended.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("second write behind the end: %v", err)
		}
	})
}

func TestBlockedLinkDeliversLater(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		c := dialed(t, w)
		w.under(func() { w.Block("10.1.0.1", "10.0.0.1:6379", true) })
		write(t, c, "abc")
		time.Sleep(time.Minute)
		if e.got != "" {
			t.Errorf("the server got %q through a blocked link", e.got)
		}
		w.under(func() { w.Block("10.1.0.1", "10.0.0.1:6379", false) })
		if got := read(t, c, 3); got != "abc" {
			t.Errorf("got %q", got)
		}
	})
}

func TestEndThatALinkHeldBackComesLater(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		c := dialed(t, w)
		w.under(func() {
			w.Block("10.1.0.1", "10.0.0.1:6379", true)
			e.peers[0].Close()
		})
		time.Sleep(time.Minute)
		w.under(func() { w.Block("10.1.0.1", "10.0.0.1:6379", false) })
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("got %v", err)
		}
	})
}

func TestServerThatDoesNotReadFillsTheNetwork(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		w.Room, e.deaf = 10, true
		c := dialed(t, w)
		if n, err := c.TryWrite([]byte("abcdefgh")); n != 8 || err != nil {
			t.Errorf("wrote %d of 8: %v", n, err)
		}
		time.Sleep(time.Second)
		if n, err := c.TryWrite([]byte("ijkl")); n != 2 || err != nil {
			t.Errorf("wrote %d, room was for 2: %v", n, err)
		}
		done := make(chan struct{})
		go func() { write(t, c, "klm"); close(done) }()
		time.Sleep(time.Minute)
		select {
		case <-done:
			t.Error("a write found room where none was")
		default:
		}
		w.under(func() { e.peers[0].Hold(false) })
		<-done
		if got := read(t, c, 13); got != "abcdefghijklm" {
			t.Errorf("got %q", got)
		}
	})
}

func TestServerReadsWhatCameBeforeAReset(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		e.deaf = true
		c := dialed(t, w)
		write(t, c, "abc")
		time.Sleep(time.Second)
		w.under(func() {
			c.Reset()
			if e.closed != 0 {
				t.Error("it learnt of the reset before it read")
			}
			e.peers[0].Hold(false)
		})
		if e.got != "abc" || e.closed != 1 {
			t.Errorf("got %q, closed %d", e.got, e.closed)
		}
	})
}

func TestPausedHostDoesNothing(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		c := dialed(t, w)
		write(t, c, "abc")
		w.under(func() { w.Pause("10.1.0.1", true) })
		began := time.Now()
		var sequence []string
		dialing := make(chan struct{})
		go func() {
			d := dialed(t, w)
			sequence = append(sequence, "dialed")
			_ = d.Close()
			close(dialing)
		}()
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		time.Sleep(2 * time.Second)
		if n, err := c.TryWrite([]byte("x")); n != 0 || err != nil {
			t.Errorf("a paused host wrote %d: %v", n, err)
		}
		if n, err := c.TryRead(make([]byte, 9)); n != 0 || err != nil {
			t.Errorf("a paused host read %d: %v", n, err)
		}
		time.AfterFunc(8*time.Second, func() { w.under(func() { w.Pause("10.1.0.1", false) }) })
		_ = c.SetReadDeadline(time.Time{})
		if got := read(t, c, 3); got != "abc" || time.Since(began) < 10*time.Second {
			t.Errorf("got %q after %v", got, time.Since(began))
		}
		<-dialing
		if !slices.Equal(sequence, []string{"dialed"}) || time.Since(began) < 10*time.Second {
			t.Errorf("%v after %v", sequence, time.Since(began))
		}
	})
}

func TestHostThatVanishedIsNoticedWhenItIsBack(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		c, silent := dialed(t, w), dialed(t, w)
		w.under(func() { c.Vanish(); silent.Vanish() })
		write(t, c, "abc")
		time.Sleep(time.Minute)
		w.under(func() { c.Reappear() })
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) || e.got != "" {
			t.Errorf("%v, the server got %q", err, e.got)
		}
		began := time.Now()
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) || time.Since(began) > keepAlive {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestDialsEndAsTheyDo(t *testing.T) {
	played(t, func(t *testing.T, w *World, e *echo) {
		dial := func() (time.Duration, error) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := w.Dialer("10.1.0.1")(ctx, "tcp", "10.0.0.1:6379")
			return time.Since(began), err
		}
		l := w.Between("10.1.0.1", "10.0.0.1:6379")
		l.Dialing = 3 * time.Second
		if took, err := dial(); err != nil || took < 3*time.Second {
			t.Errorf("slow: %v after %v", err, took)
		}
		l.Dialing, l.Refused = 0, true
		if took, err := dial(); !errors.Is(err, syscall.ECONNREFUSED) || took > time.Second {
			t.Errorf("refused: %v after %v", err, took)
		}
		l.Refused, e.silent = false, true
		if took, err := dial(); err == nil || !strings.Contains(err.Error(), "timeout") || took != 5*time.Second {
			t.Errorf("silent: %v after %v", err, took)
		}
	})
}
