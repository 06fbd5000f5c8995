package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// id asks the pipeline's connection for its id.
func id(t *testing.T, p *Pipeline) int64 {
	t.Helper()
	n, err := redis.Int64(end(t, ask(p, "CLIENT", "ID")).Reply, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// afterKill waits for the kill barrier of the connection on which r was lost.
func afterKill(p *Pipeline, r *Request) <-chan bool {
	c := make(chan bool, 1)
	p.AfterKillBarrier(r, func(closed bool) { c <- closed })
	return c
}

// lose makes the server close the pipeline's connection while a reply is expected.
func lose(t *testing.T, p *Pipeline, s *redistest.Server) *Request {
	t.Helper()
	c := s.Dial(t)
	return loseBy(t, p, s, func() {
		if n, err := redis.Int(c.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")); n == 0 || err != nil {
			t.Fatalf("killed %d, %v", n, err)
		}
	})
}

func loseBy(t *testing.T, p *Pipeline, s *redistest.Server, kill func()) *Request {
	t.Helper()
	done := ask(p, "BLPOP", "nothing", 0)
	awaitBlocked(t, s)
	kill()
	r := end(t, done)
	if _, ok := r.Err.(*LostError); !ok {
		t.Fatalf("got %v, %v", r.Reply, r.Err)
	}
	return r
}

// spoken is a connection that records its commands, as MONITOR does not show CLIENT KILL.
type spoken struct {
	redis.ConnWithTimeout
	words *[]string
}

func (c spoken) Send(cmd string, args ...any) error {
	*c.words = append(*c.words, strings.TrimSpace(fmt.Sprintln(append([]any{cmd}, args...)...)))
	return c.ConnWithTimeout.Send(cmd, args...)
}

func TestA5NextConnectionBeginsWithKillingTheLast(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	var words []string
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		words = nil
		return spoken{c.(redis.ConnWithTimeout), &words}, nil
	}, Options{})
	old := id(t, p)
	r := lose(t, p, s)
	if !<-afterKill(p, r) {
		t.Error("not killed")
	}
	end(t, ask(p, "PING"))
	p.Close(timeout)
	if want := fmt.Sprintf("CLIENT KILL ID %d ADDR 127.0.0.1:", old); !strings.HasPrefix(words[0], want) {
		t.Errorf("the connection began with %q, want %q…", words[0], want)
	}
	if !<-afterKill(p, r) {
		t.Error("asked again: not killed")
	}
}

func TestA5RefusedKillIsToldAsSuch(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, rule := range []string{"-client|kill", "-client|id", "-client"} {
		t.Run(rule, func(t *testing.T) {
			if _, err := s.Dial(t).Do("ACL", "SETUSER", "u", "reset", "on", ">p", "~*", "&*", "+@all", rule); err != nil {
				t.Fatal(err)
			}
			target, err := redisconn.ParseURL("redis://u:p@" + s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			p := open(t, func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, timeout) }, Options{})
			end(t, ask(p, "PING"))
			r := lose(t, p, s)
			if <-afterKill(p, r) {
				t.Error("told as killed")
			}
			if r := end(t, ask(p, "ECHO", "x")); r.Err != nil {
				t.Errorf("afterwards: %v", r.Err)
			}
		})
	}
}

// A restarted server counts its ids from the start again. Without the address the kill barrier
// could hit another client.
func TestA5KillBarrierAfterRestartHitsNobodyElse(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	first, taken := make(chan struct{}, 1), make(chan struct{})
	first <- struct{}{}
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		select {
		case <-first:
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return dial(ctx)
	}, Options{})
	for range 10 {
		s.Dial(t) // so that the restart itself uses up fewer ids
	}
	old := id(t, p)
	r := loseBy(t, p, s, s.Stop)
	s.Restart()
	// Another client gets the id before the pipeline connects again.
	var other redis.Conn
	for n := int64(0); n < old; {
		other = s.Dial(t)
		var err error
		if n, err = redis.Int64(other.Do("CLIENT", "ID")); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := redis.Int64(other.Do("CLIENT", "ID")); err != nil || n != old {
		t.Fatalf("nobody else has the number %d: %d, %v", old, n, err)
	}
	close(taken)
	if !<-afterKill(p, r) {
		t.Error("0 is as good as 1: nothing of a stopped server's connection will run")
	}
	end(t, ask(p, "PING"))
	if _, err := other.Do("PING"); err != nil {
		t.Errorf("the other client was hit: %v", err)
	}
}

func TestE1KillBarrierIsToldWhenThePipelineCloses(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	end(t, ask(p, "PING"))
	r := loseBy(t, p, s, s.Stop)
	told := afterKill(p, r)
	p.Close(timeout / 10)
	if <-told {
		t.Error("told as killed")
	}
}

// Its server accepts connections and says nothing.
func TestE1KillBarrierOfASilentServerEndsWhenTheNodeLeaves(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dial, hangs := dialler(t, s), false
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		if hangs {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		hangs = true
		return dial(ctx)
	}, Options{})
	end(t, ask(p, "PING"))
	s.Pause()
	told := afterKill(p, end(t, ask(p, "PING")))
	go p.Abandon(time.Minute)
	redistest.Becomes(t, "the outcome is known", func() bool { return len(told) == 1 })
	if <-told {
		t.Error("told as killed")
	}
}

// The server has many clients and no CLIENT INFO: it is older than 6.2, or an ACL forbids it.
func TestA5ConnectionIsFoundAmongThousandsOfClients(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	admin := s.Dial(t)
	if _, err := admin.Do("ACL", "SETUSER", "worker", "on", ">secret", "~*", "&*", "+@all", "-client|info"); err != nil {
		t.Fatal(err)
	}
	target, err := redisconn.ParseURL("redis://worker:secret@" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	// Long names make the list as long as that of far more clients.
	name := strings.Repeat("n", 5000)
	for range 300 {
		if _, err := s.Dial(t).Do("CLIENT", "SETNAME", name); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := redis.String(admin.Do("CLIENT", "LIST")); len(list) < 1<<20 || err != nil {
		t.Fatalf("the list has %d bytes, %v", len(list), err)
	}
	p := open(t, func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, timeout) }, Options{})
	if r := end(t, ask(p, "PING")); r.Err != nil {
		t.Fatal(r.Err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn.barrier.id == 0 || p.conn.barrier.addr == "" {
		t.Errorf("the kill barrier is %+v", p.conn.barrier)
	}
}
