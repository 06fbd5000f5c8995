package pipeline

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// poolOf makes an application's pool, and the function by which a pipeline borrows from it.
func poolOf(t *testing.T, s *redistest.Server, most int) (*redis.Pool, func(context.Context) (redis.Conn, error)) {
	pool := &redis.Pool{MaxIdle: 100, MaxActive: most, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout), redis.DialConnectTimeout(timeout))
	}}
	t.Cleanup(func() { pool.Close() })
	return pool, func(ctx context.Context) (redis.Conn, error) { return redisconn.Borrow(ctx, pool) }
}

// The server dies while a key waits to be deleted. Nothing else is to be sent, and no kill barrier waits.
func TestKeyToDeleteIsNoReasonToDialWithoutPause(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	var dials atomic.Int64
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		dials.Add(1)
		return dial(ctx)
	}, Options{})
	for range 5 {
		end(t, ask(p, "PING"))
		p.Discard("latch")
		s.Kill()
		dials.Store(0)
		began := time.Now()
		<-time.After(200 * time.Millisecond)
		if n, took := dials.Load(), time.Since(began); n > 20+int64(took/(50*time.Millisecond)) {
			t.Errorf("%d attempts to connect in %v", n, took)
		}
		s.Restart()
		// The DEL goes with the next command.
		end(t, ask(p, "PING"))
		p.mu.Lock()
		left := len(p.discards)
		p.mu.Unlock()
		if left > 0 {
			t.Errorf("%d keys are left behind", left)
		}
	}
}

// slowClose gives a dialler time to ask the pool before the broken connection is back.
type slowClose struct{ redis.ConnWithTimeout }

func (c slowClose) Close() error {
	time.Sleep(20 * time.Millisecond)
	return c.ConnWithTimeout.Close()
}

// The hub has one connection, the pipeline the other, and that one breaks.
func TestPoolOfTwoIsEnoughWhenAConnectionBreaks(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	pool, dial := poolOf(t, s, 2)
	plain := pool.Dial
	pool.Dial = func() (redis.Conn, error) {
		c, err := plain()
		if err != nil {
			return nil, err
		}
		return slowClose{c.(redis.ConnWithTimeout)}, nil
	}
	hub := pool.Get()
	defer hub.Close()
	p := open(t, dial, Options{})
	admin := s.Dial(t)
	for range 10 {
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatal(r.Err)
		}
		p.mu.Lock()
		c := p.conn
		p.mu.Unlock()
		lost := ask(p, "BLPOP", "none", 1)
		if _, err := admin.Do("CLIENT", "KILL", "ID", c.barrier.id); err != nil {
			t.Fatal(err)
		}
		for ended := false; !ended; time.Sleep(50 * time.Microsecond) {
			p.mu.Lock()
			ended = p.conn != c
			p.mu.Unlock()
		}
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatal(r.Err)
		}
		end(t, lost)
	}
}

// After a restart all idle connections of the pool are dead, but the server is up.
func TestDeadConnectionsInAPoolAreNoTrouble(t *testing.T) {
	t.Parallel()
	for _, idle := range []int{1, 16} {
		s := redistest.Start(t)
		pool, dial := poolOf(t, s, 0)
		var used []redis.Conn
		for range idle {
			c := pool.Get()
			if _, err := c.Do("PING"); err != nil {
				t.Fatal(err)
			}
			used = append(used, c)
		}
		for _, c := range used {
			c.Close()
		}
		s.Restart()
		p := open(t, dial, Options{})
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Errorf("%d of them: %v", idle, r.Err)
		}
	}
}

// A replica is paused, so each WAIT takes its full time, and later commands wait for the earlier ones.
func TestAnswersBehindAWAITAreNotLost(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"own", "borrowed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			replica := s.StartReplica(t)
			dial := dialler(t, s)
			if name == "borrowed" {
				_, dial = poolOf(t, s, 0)
			}
			p := open(t, dial, Options{Replicas: true})
			end(t, ask(p, "PING"))
			replica.Pause()
			defer replica.Resume()
			done := make(chan *Request, 4)
			for i := range cap(done) {
				submit(p, &Request{
					Command: "SET", Args: []any{fmt.Sprint("key", i), ""}, Wait: true,
					Done: CompletionFunc(func(r *Request) { done <- r }),
				})
			}
			for range cap(done) {
				if r := end(t, done); r.Err != nil || r.Replicas != 1 || r.Acked != 0 {
					t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
				}
			}
		})
	}
}

// kill closes a pipeline's connection at the server.
func kill(t *testing.T, s *redistest.Server, c *conn) {
	t.Helper()
	admin := s.Dial(t)
	defer admin.Close()
	if _, err := admin.Do("CLIENT", "KILL", "ID", c.barrier.id); err != nil {
		t.Fatal(err)
	}
}

// awaitBlocked returns once a client's command blocks at the server.
func awaitBlocked(t *testing.T, s *redistest.Server) {
	t.Helper()
	c := s.Dial(t)
	defer c.Close()
	redistest.Becomes(t, "the command reaches the server", func() bool {
		info, err := redis.String(c.Do("INFO", "clients"))
		if err != nil {
			t.Fatal(err)
		}
		return field(info, "blocked_clients:", "\r") == "1"
	})
}

// When a caller gets its answer, the connection that carried it must be counted.
func TestAConnectionIsCountedBeforeACommandIsAnswered(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	early := make(chan bool, 1)
	var p *Pipeline
	p = open(t, dialler(t, s), Options{Log: eventlog.NewConn(nil, "", "", func(string, time.Duration) {
		select {
		case <-ask(p, "PING"):
			early <- true
		case <-time.After(timeout / 4):
			early <- false
		}
	})})
	kill(t, s, inUse(t, p))
	for range 2 { // the first may still go to the killed connection
		end(t, ask(p, "PING"))
	}
	if <-early {
		t.Error("a command was answered before")
	}
}

// connected waits for a connection other than last.
func connected(t *testing.T, p *Pipeline, last *conn) *conn {
	t.Helper()
	var c *conn
	redistest.Becomes(t, "there is another connection", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		c = p.conn
		return c != nil && c != last
	})
	return c
}

// Some connections break before they answer. The next one answers, and is closed while idle.
func TestPauseIsForgottenOnceAConnectionAnswers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	var c *conn
	for range 4 {
		lost := ask(p, "BLPOP", "none", 5)
		c = connected(t, p, c)
		s.AwaitBlocked(t)
		kill(t, s, c)
		end(t, lost)
	}
	rest := func() time.Duration {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.link.Pause
	}
	if rest() == 0 {
		t.Error("connections that break at once are made without a pause")
	}
	c = connected(t, p, c)
	if r := end(t, ask(p, "PING")); r.Err != nil {
		t.Fatal(r.Err)
	}
	kill(t, s, c)
	for gone := false; !gone; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		gone = p.conn != c
		p.mu.Unlock()
	}
	if d := rest(); d != 0 {
		t.Errorf("a pause of %v is still to come", d)
	}
}

// A full server says so and closes the connection. That is not the same as a dead connection.
func TestFullServerIsAskedWithPauses(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("CONFIG", "SET", "maxclients", 1); err != nil {
		t.Fatal(err)
	}
	var dials atomic.Int64
	_, borrow := poolOf(t, s, 0)
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		dials.Add(1)
		return borrow(ctx)
	}, Options{})
	began := time.Now()
	refused := ask(p, "PING")
	<-time.After(100 * time.Millisecond)
	if n, took := dials.Load(), time.Since(began); n > 8+int64(took/(50*time.Millisecond)) {
		t.Errorf("%d connections in %v", n, took)
	}
	if r := end(t, refused); r.Err == nil || !strings.Contains(r.Err.Error(), "max number of clients") {
		t.Error(r.Err)
	}
}

// hookedLog is a handler that calls a function for each line.
type hookedLog struct {
	slog.Handler
	hook func()
}

func (h hookedLog) Handle(context.Context, slog.Record) error {
	h.hook()
	return nil
}

// told makes a log that calls hook at each line.
func told(hook func()) *eventlog.Conn {
	return eventlog.NewConn(slog.New(hookedLog{slog.NewTextHandler(io.Discard, nil), hook}), "commands", "unanswered", nil)
}

// Close comes while the log still writes the line about the new connection.
func TestE1CloseEndsWhatWasJustBorrowed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for range 20 {
		pool, borrow := poolOf(t, s, 2)
		p := newPipeline(borrow, Options{Timeout: timeout, Clock: clock.System(), Log: told(func() { time.Sleep(20 * time.Millisecond) })})
		first := ask(p, "PING")
		connected(t, p, nil)
		p.Flush()
		if r := end(t, first); r.Err != nil {
			t.Fatal(r.Err)
		}
		p.Close(timeout)
		if n := pool.ActiveCount(); n != 0 {
			t.Fatalf("the pool has %d connections", n)
		}
	}
}

// A command that got no connection stays waiting while the reason is logged: nothing of it runs.
func TestWhatCouldNotBeSentIsNotUnderWayUntilItEnds(t *testing.T) {
	t.Parallel()
	r, waits := &Request{Command: "PING"}, make(chan bool, 1)
	done := make(chan *Request, 1)
	r.Done = CompletionFunc(func(r *Request) { done <- r })
	var p *Pipeline
	p = open(t, func(context.Context) (redis.Conn, error) { return nil, redisconn.ErrPoolSize }, Options{Log: told(func() {
		if len(waits) == 0 {
			waits <- p.Unwritten(r) && !p.Cancel(r)
		}
	})})
	submit(p, r)
	if !<-waits {
		t.Error("it counts as under way")
	}
	if _, unsent := end(t, done).Err.(*NotSentError); !unsent {
		t.Errorf("%v", r.Err)
	}
}

// A replica is paused, then killed while WAITs for it are in flight. The next count follows the first of them.
func TestAnswersBehindAWAITAreNotLostWhenTheReplicaGoes(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	_, borrow := poolOf(t, s, 0)
	p := open(t, borrow, Options{Replicas: true})
	end(t, ask(p, "PING"))
	replica.Pause()
	done := make(chan *Request, 8)
	set := func(i int) {
		submit(p, &Request{
			Command: "SET", Args: []any{fmt.Sprint("key", i), ""}, Wait: true,
			Done: CompletionFunc(func(r *Request) { done <- r }),
		})
	}
	for i := range 4 {
		set(i)
	}
	if r := end(t, done); r.Err != nil || r.Acked != 0 {
		t.Fatal(r.Err, r.Acked)
	}
	for i := 4; i < 8; i++ {
		set(i)
	}
	replica.Resume()
	replica.Kill()
	for i := 1; i < 8; i++ {
		if r := end(t, done); r.Err != nil {
			t.Errorf("%v: %v", r.Args[0], r.Err)
		}
	}
}
