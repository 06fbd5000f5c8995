package pipeline

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/transport"
)

// poolOf is an application's pool, and how a pipeline borrows from it.
func poolOf(t *testing.T, s *redistest.Server, most int) (*redis.Pool, func(context.Context) (redis.Conn, error)) {
	pool := &redis.Pool{MaxIdle: 100, MaxActive: most, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout), redis.DialConnectTimeout(timeout))
	}}
	t.Cleanup(func() { pool.Close() })
	return pool, func(ctx context.Context) (redis.Conn, error) { return transport.Borrow(ctx, pool) }
}

// The server goes while a key waits to be deleted; nothing else is wanted, and no fence is owed.
func TestKeyToDeleteIsNoReasonToDialWithoutPause(t *testing.T) {
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
		<-time.After(200 * time.Millisecond)
		if n := dials.Load(); n > 20 {
			t.Errorf("%d attempts to connect in 200 ms", n)
		}
		s.Restart()
		// It goes with what comes next.
		end(t, ask(p, "PING"))
		p.mu.Lock()
		left := len(p.discards)
		p.mu.Unlock()
		if left > 0 {
			t.Errorf("%d keys are left behind", left)
		}
	}
}

// slowClose gives a dialler time to ask the pool before it has the broken connection back.
type slowClose struct{ redis.ConnWithTimeout }

func (c slowClose) Close() error {
	time.Sleep(20 * time.Millisecond)
	return c.ConnWithTimeout.Close()
}

// One connection is the hub's, one the pipeline's; that one breaks.
func TestPoolOfTwoIsEnoughWhenAConnectionBreaks(t *testing.T) {
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
		l := p.link
		p.mu.Unlock()
		lost := ask(p, "BLPOP", "none", 1)
		if _, err := admin.Do("CLIENT", "KILL", "ID", l.fence.id); err != nil {
			t.Fatal(err)
		}
		for ended := false; !ended; time.Sleep(50 * time.Microsecond) {
			p.mu.Lock()
			ended = p.link != l
			p.mu.Unlock()
		}
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatal(r.Err)
		}
		end(t, lost)
	}
}

// After a restart all that were idle in the pool are dead, and the server is up.
func TestDeadConnectionsInAPoolAreNoTrouble(t *testing.T) {
	for _, idle := range []int{1, spare} {
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

// A replica stands still, so each WAIT takes its second, and who comes later waits for those before.
func TestAnswersBehindAWAITAreNotLost(t *testing.T) {
	s := redistest.Start(t)
	replica := redistest.Start(t, "--replicaof", "127.0.0.1", strconv.Itoa(s.Port()))
	c := s.Dial(t)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		info, err := redis.String(c.Do("INFO", "replication"))
		if strings.Contains(info, "state=online") {
			break
		}
		if time.Now().After(end) {
			t.Fatal(info, err)
		}
	}
	_, borrowed := poolOf(t, s, 0)
	for name, dial := range map[string]func(context.Context) (redis.Conn, error){"own": dialler(t, s), "borrowed": borrowed} {
		t.Run(name, func(t *testing.T) {
			p := open(t, dial, Options{Replicas: true})
			end(t, ask(p, "PING"))
			replica.Pause()
			defer replica.Resume()
			done := make(chan *Request, 4)
			for i := range cap(done) {
				p.Submit(&Request{
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
