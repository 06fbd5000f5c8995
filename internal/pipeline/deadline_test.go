package pipeline

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The guard ends no command before its time, and no idle connection.
func TestAConnectionIsOverOnceItsOldestBatchIsOverdue(t *testing.T) {
	redistest.Slow(t, "waits for a timeout after the other")
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	var dials atomic.Int64
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		dials.Add(1)
		return dial(ctx)
	}, Options{})
	guarded := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.conn.guarded
	}
	for range 2 {
		for began := time.Now(); time.Since(began) < 3*timeout/2; {
			if r := end(t, ask(p, "PING")); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		for guarded() { // until the guard has seen the connection idle
			time.Sleep(time.Millisecond)
		}
	}
	if dials.Load() != 1 {
		t.Errorf("%d connections", dials.Load())
	}
	s.Pause()
	sent := time.Now()
	r := end(t, ask(p, "PING"))
	if _, lost := errors.AsType[*LostError](r.Err); !lost || !errors.Is(r.Err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want lost", r.Err)
	}
	if took := time.Since(sent); took < timeout {
		t.Errorf("lost after %v; a command has %v", took, timeout)
	}
}

// Its commands have much longer to be answered.
func TestServerThatIsSilentIsReported(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	told := make(chan error)
	p := newPipeline(dialler(t, s), Options{Timeout: time.Minute, Clock: clock.System(), Node: Node{Trouble: func(err error) { told <- err }}})
	defer p.Close(timeout)
	end(t, ask(p, "PING"))
	s.Pause()
	done := ask(p, "PING")
	for range 2 { // and again, since the next master comes later
		if err := <-told; !errors.Is(err, errSilent) {
			t.Error(err)
		}
	}
	s.Resume()
	for {
		select {
		case <-told:
		case r := <-done:
			if r.Err != nil {
				t.Errorf("its answer, which came late: %v", r.Err)
			}
			return
		}
	}
}

// A completion may take its time. The reader then reads all that has arrived, in however many reads.
func TestReaderThatWasBusyBeyondTheDeadlineReadsWhatHasCome(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for two timeouts")
	for what, o := range map[string]Options{"alone": {}, "with replicas": keeping(true)} {
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
					together := 0 // the reader may have written some before all were queued
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
				p.Enqueue(r, 0)
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
