package pipeline

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestTheEndOfAnIdleConnectionIsNoticedAfterALoneCaller(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	ended := make(chan struct{}, 1)
	p := open(t, dialler(t, s), Options{Node: Node{Ended: func() { ended <- struct{}{} }}})
	kill(t, s, goesOn(t, p))
	select {
	case <-ended:
	case <-time.After(10 * timeout):
		t.Error("nobody noticed")
	}
	if r := end(t, ask(p, "PING")); r.Err != nil {
		t.Error(r.Err)
	}
}

// awaitUnderWay returns once a command is in flight on c. The command must take long.
func awaitUnderWay(c *conn) {
	for inFlight := 0; inFlight == 0; {
		c.p.mu.Lock()
		inFlight = c.inflight
		c.p.mu.Unlock()
	}
}

func TestAConnectionThatBreaksWhileACallerReadsLosesItsCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	for range 20 {
		c := goesOn(t, p)
		done := make(chan *Request, 1)
		go func() {
			submit(p, &Request{Command: "BLPOP", Args: []any{"none", 30}, Done: CompletionFunc(func(r *Request) { done <- r })})
		}()
		awaitBlocked(t, s)
		kill(t, s, c)
		r := end(t, done)
		if lost, ok := r.Err.(*LostError); !ok || lost.Cause == nil {
			t.Fatalf("%v", r.Err)
		}
	}
}

// failing is a connection whose next read fails once, when the test says so.
type failing struct {
	*redisconn.Conn
	fails *atomic.Bool
}

var errRead = errors.New("the read failed")

func (c failing) Fill(wait bool) (some bool, err error) {
	if wait && c.fails.Swap(false) {
		return false, errRead
	}
	return c.Conn.Fill(wait)
}

func (c failing) Receive() (any, error) {
	if c.fails.Swap(false) {
		return nil, errRead
	}
	return c.Conn.Receive()
}

func TestWhatACallerMetInReadingIsTheCauseOfTheLoss(t *testing.T) {
	t.Parallel()
	dial := dialler(t, redistest.Start(t))
	var fails atomic.Bool
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return failing{c.(*redisconn.Conn), &fails}, nil
	}, Options{})
	goesOn(t, p)
	fails.Store(true)
	if r := end(t, ask(p, "PING")); !errors.Is(r.Err, errRead) {
		t.Errorf("%v", r.Err)
	}
}

func TestACompletionThatEndsItsGoroutineLeavesTheConnectionUsable(t *testing.T) {
	p := start(t, redistest.Start(t))
	c := goesOn(t, p)
	over := make(chan struct{})
	go func() {
		defer close(over)
		submit(p, &Request{Command: "PING", Done: CompletionFunc(func(*Request) {
			if c.lone.reading { // otherwise the reader runs this
				runtime.Goexit()
			}
		})})
	}()
	<-over
	for range 100 {
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}

func TestAPipelineClosesWhileItsReaderIsAside(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{false, true} {
		p := start(t, redistest.Start(t))
		c := goesOn(t, p)
		done := make(chan *Request, 1)
		if reads {
			go submit(p, &Request{Command: "BLPOP", Args: []any{"none", 30}, Done: CompletionFunc(func(r *Request) { done <- r })})
			awaitUnderWay(c)
		} else {
			done <- &Request{}
		}
		p.Close(0)
		end(t, done)
	}
}

func TestARetiredConnectionIsReplacedThoughItsReaderIsAside(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a timeout passes")
	s := redistest.Start(t)
	p := start(t, s)
	for i := range 10 {
		c := goesOn(t, p)
		done := make(chan *Request, 1)
		if i%2 == 0 {
			go submit(p, &Request{Command: "PING", Done: CompletionFunc(func(r *Request) { done <- r })})
		} else {
			done <- &Request{}
		}
		p.Retire(errReadOnly)
		if r := end(t, done); r.Err != nil {
			t.Fatal(r.Err)
		}
		connected(t, p, c)
	}
}
