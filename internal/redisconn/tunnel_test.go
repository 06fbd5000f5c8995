package redisconn

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// channel is a connection without deadlines, as a channel of SSH is.
type channel struct{ net.Conn }

var errNoDeadlines = errors.New("deadlines are not supported")

func (channel) SetDeadline(time.Time) error      { return errNoDeadlines }
func (channel) SetReadDeadline(time.Time) error  { return errNoDeadlines }
func (channel) SetWriteDeadline(time.Time) error { return errNoDeadlines }

// ownWay embeds a connection of the system, but reads and writes in its own way, as one that
// encrypts does.
type ownWay struct {
	*net.TCPConn
	read atomic.Int64
}

func (c *ownWay) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// throughPipe connects to addr through a net.Pipe.
func throughPipe(t *testing.T, addr string) net.Conn {
	t.Helper()
	far := tcp(t, addr)
	near, middle := net.Pipe()
	join := func(to, from net.Conn) {
		b := make([]byte, 4096)
		for {
			n, err := from.Read(b)
			if err == nil {
				_, err = to.Write(b[:n])
			}
			if err != nil {
				to.Close()
				from.Close()
				return
			}
		}
	}
	go join(far, middle)
	go join(middle, far)
	return near
}

func tcp(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// targetBy is a target that dial reaches, under a name that only dial knows.
func targetBy(t *testing.T, dial Dialer) *Target {
	t.Helper()
	target, err := ParseURL("redis://redis.inside")
	if err != nil {
		t.Fatal(err)
	}
	target.Dialer = Tunnelled(dial)
	return target
}

func TestConnectionsOfEachSort(t *testing.T) {
	s := redistest.Start(t)
	for name, conn := range map[string]func() net.Conn{
		"of the system": func() net.Conn { return tcp(t, s.Addr()) },
		"a net.Pipe":    func() net.Conn { return throughPipe(t, s.Addr()) },
		"no deadlines":  func() net.Conn { return channel{tcp(t, s.Addr())} },
		"in its own way": func() net.Conn {
			return &ownWay{TCPConn: tcp(t, s.Addr())}
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := conn()
			c, err := targetBy(t, func(_ context.Context, network, address string) (net.Conn, error) {
				if network != "tcp" || address != "redis.inside:6379" {
					t.Errorf("asked for %s %s", network, address)
				}
				return made, nil
			}).Dial(soon(t), 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if reply, err := c.Do("PING"); err != nil || reply != "PONG" {
				t.Errorf("%v, %v", reply, err)
			}
			m := c.(*Conn)
			before := int64(0)
			own, counts := made.(*ownWay)
			if counts {
				before = own.read.Load()
			}
			if err := queue(m, "ECHO", []any{"hello"}); err != nil || push(m) != nil {
				t.Fatal(err)
			}
			if reply, err := redis.String(m.Receive()); err != nil || reply != "hello" {
				t.Errorf("%v, %v", reply, err)
			}
			if counts && own.read.Load() == before {
				t.Error("it was read beneath it")
			}
			// A read ends at its deadline, and says so.
			if _, err := m.ReceiveWithTimeout(20 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("its time is over, and the read says %v", err)
			}
		})
	}
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// A reply in time leaves nothing behind that would end the connection later.
func TestAReceiveThatTakesTooLongEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		c := newConn(channel{near}, channel{near}, time.Minute, new(sync.Map), "")
		for range 3 {
			go func() { _, _ = far.Write([]byte(":1\r\n")) }()
			if reply, err := c.ReceiveWithTimeout(time.Second); reply != int64(1) || err != nil {
				t.Fatalf("%v, %v", reply, err)
			}
			time.Sleep(time.Minute)
		}
		began := time.Now()
		if _, err := c.ReceiveWithTimeout(time.Second); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("a read that nothing comes for says %v after %v", err, time.Since(began))
		}
	})
}

// slowClose is a connection that is unusable as soon as Close begins, but whose Close waits.
type slowClose struct {
	net.Conn
	gate   chan struct{}
	closes atomic.Int32
}

func (c *slowClose) Close() error {
	c.closes.Add(1)
	err := c.Conn.Close()
	<-c.gate
	return err
}

// The caller that closes the connection must not wait.
func TestCloseOfADialersConnectionIsNotWaitedFor(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	slow := &slowClose{Conn: near, gate: make(chan struct{})}
	c, err := targetBy(t, func(context.Context, string, string) (net.Conn, error) { return slow, nil }).Dial(soon(t), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		c.(*Conn).Interrupt()
		_ = c.Close()
	}()
	select {
	case <-broken:
	case <-time.After(5 * time.Second):
		t.Error("whoever breaks it off waits for its Close")
	}
	close(slow.gate)
	<-broken
	if n := slow.closes.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

// A late dial delays no caller, is the only one, and its connection is closed when it comes.
func TestLateDialIsLeftToItself(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	gate := make(chan struct{})
	var dials atomic.Int32
	target := targetBy(t, func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		<-gate
		return near, nil
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err := target.Dial(ctx, time.Second)
		cancel()
		if !errors.Is(err, errLate) {
			t.Fatalf("got %v", err)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d dials, and the first goes on", n)
	}
	close(gate)
	_ = far.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("what came when nobody waited is not closed: %v", err)
	}
}

func TestDialerThatGivesNothing(t *testing.T) {
	_, err := targetBy(t, func(context.Context, string, string) (net.Conn, error) { return nil, nil }).Dial(soon(t), time.Second)
	if !errors.Is(err, errNoConn) {
		t.Errorf("got %v", err)
	}
	refused := errors.New("no such host inside")
	_, err = targetBy(t, func(context.Context, string, string) (net.Conn, error) { return nil, refused }).Dial(soon(t), time.Second)
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}
