package pipeline

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A closing pipeline whose connection breaks reconnects only if a command is still to be sent, or if somebody asks
// whether a lost one may still run.
func TestConnectionThatBreaksDuringCloseIsMadeAnewForAReason(t *testing.T) {
	for name, row := range map[string]struct {
		asks bool  // whether somebody asks about the lost command
		want int64 // dials
	}{
		"nobody asks about what was lost": {false, 1},
		"somebody does":                   {true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			var dials atomic.Int64
			dial := dialler(t, s)
			p := open(t, func(ctx context.Context) (redis.Conn, error) {
				dials.Add(1)
				return dial(ctx)
			}, Options{})
			before := id(t, p)
			killed := make(chan bool, 1)
			done := make(chan *Request, 1)
			submit(p, &Request{Command: "BLPOP", Args: []any{"nothing", 0}, Done: CompletionFunc(func(r *Request) {
				if row.asks {
					p.AfterKillBarrier(r, func(yes bool) { killed <- yes })
				}
				done <- r
			})})
			s.AwaitBlocked(t)
			closed := make(chan struct{})
			go func() {
				p.Close(10 * timeout)
				close(closed)
			}()
			for closing := false; !closing; time.Sleep(time.Millisecond) {
				p.mu.Lock()
				closing = p.closing
				p.mu.Unlock()
			}
			if _, err := s.Dial(t).Do("CLIENT", "KILL", "ID", before); err != nil {
				t.Fatal(err)
			}
			if r := end(t, done); r.Err == nil {
				t.Fatal("it was answered")
			}
			<-closed
			if row.asks && !<-killed {
				t.Error("the kill barrier was given up")
			}
			if n := dials.Load(); n != row.want {
				t.Errorf("%d dials, want %d", n, row.want)
			}
		})
	}
}

// Close treats a connection that was given up like the one in use: it waits for the reply, and ends the connection
// when its patience does.
func TestCloseEndsAConnectionThatWasGivenUp(t *testing.T) {
	for name, patience := range map[string]time.Duration{"at once": 0, "when it is answered": 10 * timeout} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			p := start(t, s)
			done := ask(p, "BLPOP", "list", 0)
			s.AwaitBlocked(t)
			p.Retire(errReadOnly)
			closed := make(chan struct{})
			go func() {
				p.Close(patience)
				close(closed)
			}()
			if patience > 0 {
				redistest.Becomes(t, "Close waits", func() bool {
					p.mu.Lock()
					defer p.mu.Unlock()
					return p.discardNow
				})
				if _, err := s.Dial(t).Do("RPUSH", "list", "x"); err != nil {
					t.Fatal(err)
				}
			}
			r := end(t, done)
			if _, lost := r.Err.(*LostError); lost != (patience == 0) || errors.Is(r.Err, os.ErrDeadlineExceeded) {
				t.Errorf("%v, %v", r.Reply, r.Err)
			}
			<-closed
		})
	}
}
