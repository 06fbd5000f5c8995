package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A reply that was left on the connection must not be taken for the next command's.
func TestRepliesThatWereLeftOnALentConnectionAreDrained(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	pool := &redis.Pool{Dial: func() (redis.Conn, error) {
		c, err := redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
		if err == nil {
			err = c.Send("CLIENT", "SETNAME", "app")
		}
		return c, err
	}}
	t.Cleanup(func() { pool.Close() })
	p := open(t, func(ctx context.Context) (redis.Conn, error) { return redisconn.Borrow(ctx, pool) }, Options{})
	for _, word := range []string{"one", "two"} {
		if r := end(t, ask(p, "ECHO", word)); r.Err != nil || string(r.Reply.([]byte)) != word {
			t.Fatalf("asked for %s, got %q, %v", word, r.Reply, r.Err)
		}
	}
	r := lose(t, p, s)
	if !<-afterKill(p, r) {
		t.Error("not killed: the id was not known")
	}
}

// stray is a connection with a reply that redigo doesn't know of.
type stray struct {
	redis.ConnWithTimeout
	first []any
}

func (c *stray) ReceiveWithTimeout(d time.Duration) (any, error) {
	if len(c.first) > 0 {
		r := c.first[0]
		c.first = c.first[1:]
		return r, nil
	}
	return c.ConnWithTimeout.ReceiveWithTimeout(d)
}

func TestConnectionWhoseRepliesAreOutOfStepIsNotUsed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	for _, first := range []any{"OK", []byte("text"), nil, []any{}} {
		dials := 0
		p := open(t, func(ctx context.Context) (redis.Conn, error) {
			c, err := dial(ctx)
			if dials++; err != nil || dials > 1 {
				return c, err
			}
			return &stray{c.(redis.ConnWithTimeout), []any{first}}, nil
		}, Options{})
		if r := end(t, ask(p, "ECHO", "x")); r.Err != nil || string(r.Reply.([]byte)) != "x" {
			t.Errorf("after a stray %v: got %q, %v", first, r.Reply, r.Err)
		}
		if dials != 2 {
			t.Errorf("after a stray %v: %d connections", first, dials)
		}
		p.Close(timeout)
	}
}
