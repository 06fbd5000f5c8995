package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// queueTogether queues requests so that they go in one batch.
func queueTogether(p *Pipeline, rs ...*Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range rs {
		r.Deadline = p.o.Clock.Now() + p.o.Timeout
		p.queue.add(r)
	}
}

// The server became a replica between a write and its WAIT. Its former replica may be the next master.
func TestWAITThatADemotedServerRefusesCountsNoReplica(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, waitFor(t, p, 1))
	done := make(chan *Request, 1)
	queueTogether(p,
		&Request{Command: "SET", Args: []any{"key", ""}, Wait: true, Done: CompletionFunc(func(r *Request) { done <- r })},
		&Request{Command: "REPLICAOF", Args: []any{"127.0.0.1", replica.Port()}, Wait: true, Done: CompletionFunc(func(*Request) {})})
	p.Flush()
	if r := end(t, done); r.Err != nil || r.Replicas != 1 || r.Acked != 0 {
		t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
	}
}

// A write's WAIT and a repeated one are in one batch, and each lasts for a second. The command timeout is shorter.
func TestRepeatedWAITHasItsSecond(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for WAITs of a second")
	for name, dial := range map[string]func(*testing.T, *redistest.Server) func(context.Context) (redis.Conn, error){
		"own": func(t *testing.T, s *redistest.Server) func(context.Context) (redis.Conn, error) {
			return dialler(t, s)
		},
		"pool": func(t *testing.T, s *redistest.Server) func(context.Context) (redis.Conn, error) {
			_, of := poolOf(t, s, 2)
			return of
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			replica := s.StartReplica(t)
			p := newPipeline(dial(t, s), Options{Replicas: true, Timeout: 900 * time.Millisecond, Clock: clock.System()})
			t.Cleanup(func() { p.Close(timeout) })
			end(t, waitFor(t, p, 1))
			replica.Pause()
			defer replica.Resume()
			r := end(t, waitFor(t, p, 1))
			type answer struct {
				acked int
				err   error
			}
			again := make(chan answer, 1)
			if asks, err := p.AwaitReplicas(r, func(acked int, err error) { again <- answer{acked, err} }); !asks {
				t.Fatalf("they are not asked once more: %v", err)
			}
			if r := end(t, waitFor(t, p, 1)); r.Err != nil || r.Replicas != 1 || r.Acked != 0 {
				t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
			}
			if a := <-again; a.err != nil || a.acked != 0 {
				t.Errorf("%d have it, %v", a.acked, a.err)
			}
		})
	}
}
