package seeds

import (
	"context"
	"embed"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience  = 20 * time.Second // for what comes at once if all is well
	pollEvery = 5 * time.Millisecond
	name      = "orders"
)

//go:embed scripts
var scripts embed.FS

// rig is a server, a connection that runs the printed scripts, and a client of this library.
type rig struct {
	*testing.T
	server *redisserver.LocalServer
	conn   redis.Conn
	c      *rlock.Client
}

func newRig(t *testing.T, opts ...rlock.Option) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{T: t, server: redisserver.Local(t)}
	r.conn = redisserver.Dial(t, r.server)
	r.c = r.open(opts...)
	return r
}

func (r *rig) open(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), r.server.URL(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// text is a printed script.
func (r *rig) text(script string) string {
	r.Helper()
	b, err := scripts.ReadFile("scripts/" + script + ".lua")
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// run runs a printed script and gives its reply, nil included.
func (r *rig) run(script string, keys []string, args ...any) (any, error) {
	r.Helper()
	words := []any{r.text(script), len(keys)}
	for _, k := range keys {
		words = append(words, k)
	}
	return r.conn.Do("EVAL", append(words, args...)...)
}

// replies checks what a printed script answers: want is nil or a number.
func (r *rig) replies(want any, script string, keys []string, args ...any) {
	r.Helper()
	got, err := r.run(script, keys, args...)
	if n, ok := want.(int); ok {
		want = int64(n)
	}
	if err != nil || got != want {
		r.Fatalf("%s %v %v: %v, %v; want %v", script, keys, args, got, err, want)
	}
}

func (r *rig) do(command string, args ...any) any {
	r.Helper()
	reply, err := r.conn.Do(command, args...)
	if err != nil {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return reply
}

func (r *rig) number(command string, args ...any) int {
	r.Helper()
	n, err := redis.Int(r.do(command, args...), nil)
	if err != nil && err != redis.ErrNil {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return n
}

// pttl is a key's time to live; -1 ms: it has none, -2 ms: there is no such key.
func (r *rig) pttl(key string) time.Duration {
	r.Helper()
	return time.Duration(r.number("PTTL", key)) * time.Millisecond
}

// lives checks that a key's time to live is in a range.
func (r *rig) lives(key string, low, high time.Duration) {
	r.Helper()
	if d := r.pttl(key); d < low || d > high {
		r.Errorf("%s has %v to live, want %v to %v", key, d, low, high)
	}
}

func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !state(); {
		if time.Now().After(end) {
			r.Fatalf("never: %s", what)
		}
		<-time.After(pollEvery)
	}
}

func (r *rig) lock(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

func (r *rig) unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) owner(s string) rlock.Owner {
	r.Helper()
	o, err := rlock.ParseOwner(s)
	if err != nil {
		r.Fatal(err)
	}
	return o
}

// entry is how a waiter's call ended, and when.
type entry struct {
	hold *rlock.Hold
	err  error
	at   time.Time
}

// enter waits for a lock.
func enter(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan entry {
	ended := make(chan entry, 1)
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- entry{h, err, time.Now()}
	}()
	return ended
}

func (r *rig) entered(waiter <-chan entry) entry {
	r.Helper()
	select {
	case e := <-waiter:
		if e.err != nil {
			r.Fatal(e.err)
		}
		return e
	case <-time.After(patience):
		r.Fatal("the waiter never entered")
		panic("unreachable")
	}
}
