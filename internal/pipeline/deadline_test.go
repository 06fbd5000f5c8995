package pipeline

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/redistest"
)

// counted is a connection that counts how often its read deadline is moved.
type counted struct {
	*redisconn.Conn
	moves *atomic.Int64
}

func (c counted) SetReadDeadline(t time.Time) error {
	c.moves.Add(1)
	return c.Conn.SetReadDeadline(t)
}

// The read deadline of a connection in use is not moved for each command, ends no
// command before its time, and no connection that is idle.
func TestAReadDeadlineIsMovedOnceInATimeout(t *testing.T) {
	redistest.Slow(t, "waits for a timeout after the other")
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	var dials, moves atomic.Int64
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		dials.Add(1)
		return counted{c.(*redisconn.Conn), &moves}, nil
	}, Options{})
	began := time.Now()
	ping := func() {
		// Two at once: for a lone caller that reads, the deadline is moved when the machine stands still.
		done := make(chan *Request, 2)
		for range 2 {
			p.Enqueue(&Request{Command: "PING", Done: CompletionFunc(func(r *Request) { done <- r })})
		}
		p.Flush()
		for range 2 {
			if r := end(t, done); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
	for range 1000 {
		ping()
	}
	for bounded := true; bounded; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		bounded = p.conn.boundedBy > 0
		p.mu.Unlock()
	}
	for half := time.Now(); time.Since(half) < timeout/2; {
		ping()
	}
	// At the start, at the first command and at most twice for each deadline that passed.
	if n, most := moves.Load(), 2+2*int64(time.Since(began)/timeout); n > most || dials.Load() != 1 {
		t.Errorf("the deadline was moved %d times, on %d connections; want at most %d, on one", n, dials.Load(), most)
	}
	s.Pause()
	sent := time.Now()
	r := end(t, ask(p, "PING"))
	if _, lost := errors.AsType[*LostError](r.Err); !lost {
		t.Errorf("got %v, want lost", r.Err)
	}
	if took := time.Since(sent); took < timeout || took > 2*timeout {
		t.Errorf("lost after %v; a command has %v", took, timeout)
	}
}

// Whoever completes a request may take its time. What the server says meanwhile is read afterwards, in however many reads.
func TestReaderThatWasBusyBeyondTheDeadlineReadsWhatHasCome(t *testing.T) {
	redistest.Slow(t, "waits for two timeouts")
	for what, o := range map[string]Options{"one deadline": {}, "a deadline for each batch": keeping(true)} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			p := open(t, dialler(t, s), o)
			if r := end(t, ask(p, "PING")); r.Err != nil {
				t.Fatal(r.Err)
			}
			admin := s.Dial(t)
			done := make(chan *Request, leastBatch)
			var all [leastBatch]*Request
			for i := range all {
				all[i] = &Request{Command: "ECHO", Args: []any{strings.Repeat("x", 64<<10)}, Done: CompletionFunc(func(r *Request) {
					if done <- r; i > 0 {
						return
					}
					together := 0 // the reader may have written before all were queued
					p.mu.Lock()
					for _, other := range all {
						if other != nil && other.batch == r.batch {
							together++
						}
					}
					p.mu.Unlock()
					for answered := 0; answered < together && !t.Failed(); {
						stats, err := redis.String(admin.Do("INFO", "commandstats"))
						if err != nil {
							t.Error(err)
						}
						answered, _ = strconv.Atoi(field(stats, "cmdstat_echo:calls=", ","))
					}
					time.Sleep(2 * timeout)
				})}
			}
			for _, r := range all {
				p.Enqueue(r)
			}
			p.Flush()
			for range leastBatch {
				if r := end(t, done); r.Err != nil {
					t.Error(r.Err)
				}
			}
		})
	}
}
