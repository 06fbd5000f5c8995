package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/redistest"
)

// idling makes a pipeline whose reader waits for the network: it flushes nothing by itself.
func idling(t *testing.T, dial func(context.Context) (redis.Conn, error), all *UnderWay) *Pipeline {
	t.Helper()
	p := open(t, dial, Options{UnderWay: all})
	if r := end(t, ask(p, "PING")); r.Err != nil {
		t.Fatal(r.Err)
	}
	awaitIdle(t, p)
	return p
}

func awaitIdle(t *testing.T, p *Pipeline) {
	t.Helper()
	idle := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.conn != nil && !p.conn.busy.Load() && p.conn.openRequests == 0
	}
	for until := time.Now().Add(10 * timeout); !idle(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the reader never comes back")
		}
	}
}

func TestWhatIsLostIsNotUnderWay(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var all UnderWay
	p := idling(t, dialler(t, s), &all)
	s.Pause()
	done := make(chan *Request, 20)
	for range 20 {
		p.Enqueue(&Request{Command: "PING", Done: CompletionFunc(func(r *Request) { done <- r })})
	}
	p.Flush()
	if n := all.connections.Load(); n != 1 {
		t.Errorf("%d connections have something under way at a server that stands still, want 1", n)
	}
	for range 20 {
		end(t, done) // by the timeout
	}
	s.Resume()
	if r := end(t, ask(p, "PING")); r.Err != nil {
		t.Error(r.Err)
	}
	awaitIdle(t, p)
	if n := all.connections.Load(); n != 0 {
		t.Errorf("%d connections have something under way in the end", n)
	}
}

// pollCount counts the reads that may poll.
type pollCount struct {
	*redisconn.Conn
	polls *atomic.Int64
}

func (c pollCount) Fill(how redisconn.Wait) error {
	if how != redisconn.Sleep {
		c.polls.Add(1)
	}
	return c.Conn.Fill(how)
}

func TestOnlyALoneConnectionIsPolled(t *testing.T) {
	t.Parallel()
	near, far := redistest.Start(t), redistest.Start(t)
	var all UnderWay
	var polls atomic.Int64
	dial := dialler(t, near)
	p := idling(t, func(ctx context.Context) (redis.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return pollCount{conn.(*redisconn.Conn), &polls}, nil
	}, &all)
	other := idling(t, dialler(t, far), &all)

	use(p)
	if polls.Load() == 0 {
		t.Error("the only busy connection was never polled")
	}
	awaitIdle(t, p)
	far.Pause()
	busy := ask(other, "PING")
	polls.Store(0)
	use(p)
	if n := polls.Load(); n != 0 {
		t.Errorf("polled %d times beside another busy connection", n)
	}
	far.Resume()
	end(t, busy)
}

// use has many callers for a while.
func use(p *Pipeline) {
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 50 {
				<-ask(p, "PING")
			}
		})
	}
	callers.Wait()
}
