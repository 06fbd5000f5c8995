package pipeline

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// failingWrite is a connection whose armed write hangs and then fails. Its reader notices Close a little later.
type failingWrite struct {
	net.Conn
	armed   atomic.Bool
	reached chan struct{}
	fail    chan struct{}
}

func (c *failingWrite) Write(b []byte) (int, error) {
	if c.armed.CompareAndSwap(true, false) {
		close(c.reached)
		<-c.fail
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Write(b)
}

func (c *failingWrite) Close() error {
	time.AfterFunc(50*time.Millisecond, func() { c.Conn.Close() })
	return nil
}

func TestBatchBehindAFailedWriteIsNotSent(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var last atomic.Pointer[failingWrite]
	dial := redis.DialContextFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		c := &failingWrite{Conn: conn, reached: make(chan struct{}), fail: make(chan struct{})}
		last.Store(c)
		return c, err
	})
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", s.Addr(), dial, redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}, Options{})
	end(t, ask(p, "PING"))
	c := last.Load()
	c.armed.Store(true)
	first := make(chan *Request, 1)
	go func() { first <- <-ask(p, "PING") }()
	<-c.reached
	second := ask(p, "PING")
	close(c.fail)
	r := end(t, first)
	if _, ok := r.Err.(*LostError); !ok {
		t.Errorf("the command whose write failed: %v, want lost", r.Err)
	}
	r = end(t, second)
	if _, ok := r.Err.(*NotSentError); !ok {
		t.Errorf("the one behind it: %v, want not sent", r.Err)
	}
	if r := end(t, ask(p, "PING")); r.Err != nil {
		t.Error(r.Err)
	}
}
