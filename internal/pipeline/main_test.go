package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// timeout is longer than the machine may stall in the middle of a test.
const timeout = 2 * time.Second

// dialler returns a client's function that dials s.
func dialler(t testing.TB, s *redistest.Server) func(context.Context) (redis.Conn, error) {
	t.Helper()
	target, err := redisconn.ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, timeout) }
}

// start makes a pipeline to s and closes it with the test.
func start(t testing.TB, s *redistest.Server) *Pipeline {
	t.Helper()
	return open(t, dialler(t, s), Options{})
}

// newPipeline is New. By default each master stays, and nobody reads its log.
func newPipeline(dial func(context.Context) (redis.Conn, error), o Options) *Pipeline {
	if o.Log == nil {
		o.Log = eventlog.NewConn(nil, "", "", nil)
	}
	if o.Node.Stays == nil {
		o.Node.Stays = func(context.Context, []string) error { return nil }
	}
	return New(dial, o)
}

func open(t testing.TB, dial func(context.Context) (redis.Conn, error), o Options) *Pipeline {
	t.Helper()
	o.Timeout = timeout
	o.Clock = clock.System()
	p := newPipeline(dial, o)
	t.Cleanup(func() { p.Close(timeout) })
	return p
}

// submit queues r and flushes, as a caller does.
func submit(p *Pipeline, r *Request) {
	if p.Enqueue(r, 0) {
		p.Flush()
	} else {
		r.Done.Complete(r)
	}
}

// ask submits a command, and sends its request through the channel when it ends.
func ask(p *Pipeline, command string, args ...any) <-chan *Request {
	done := make(chan *Request, 1)
	submit(p, &Request{Command: command, Args: args, Done: CompletionFunc(func(r *Request) { done <- r })})
	return done
}

// end waits for a request for longer than any may take.
func end(t testing.TB, done <-chan *Request) *Request {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(10 * timeout):
		t.Fatal("a request never ended")
		return nil
	}
}

// Call makes r a request for a script.
func (r *Request) Call(c luasrc.Call) {
	r.Command, r.Args, r.Script = "EVALSHA", c.Args, c.Script
}
