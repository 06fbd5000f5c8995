package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// timed is a pool's connection that notes how long each reply is awaited.
type timed struct {
	redis.ConnWithTimeout
	least atomic.Int64
}

func (c *timed) ReceiveWithTimeout(d time.Duration) (any, error) {
	c.least.Store(min(c.least.Load(), int64(d)))
	return c.ConnWithTimeout.ReceiveWithTimeout(d)
}

// A completed request belongs to its maker, which may reuse it while the rest of its batch is
// read.
func TestARequestThatIsUsedAgainDoesNotShortenItsBatch(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var c *timed
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		rc, err := redis.DialContext(ctx, "tcp", s.Addr())
		if err == nil {
			c = &timed{ConnWithTimeout: rc.(redis.ConnWithTimeout)}
		}
		return c, err
	}, Options{})
	end(t, ask(p, "PING"))
	c.least.Store(int64(timeout))
	done := make(chan *Request, 2)
	for range 2 {
		p.Enqueue(&Request{Command: "PING", Done: CompletionFunc(func(r *Request) {
			r.Sent -= 10 * timeout
			done <- r
		})}, 0)
	}
	p.Flush()
	for range 2 {
		if r := end(t, done); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if least := time.Duration(c.least.Load()); least < timeout/4 {
		t.Errorf("a reply was waited for for %v; a command has %v", least, timeout)
	}
}
