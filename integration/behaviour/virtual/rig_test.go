package virtual_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

const address = "10.0.0.1:6379"

// rig is one server and its clients, in a bubble.
type rig struct {
	*testing.T
	world   *simnet.World
	server  *simredis.Server
	clients int
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, world: simnet.New(1)}
		r.at(func() { r.server = simredis.New(r.world, address) })
		test(r)
	})
}

// at runs fn with the world's lock held.
func (r *rig) at(fn func()) {
	r.world.Mu.Lock()
	defer r.world.Mu.Unlock()
	fn()
}

// host is the address that a client's connections come from; the first client's is host(1).
func host(client int) string { return fmt.Sprintf("10.1.0.%d", client) }

// open makes a client, which the test's end closes.
func (r *rig) open(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	r.clients++
	opts = append(opts, rlock.WithDialer(r.world.Dialer(host(r.clients))))
	c, err := rlock.Open(context.Background(), "redis://"+address, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = c.Close() })
	return c
}

// pass lets time pass, which costs none: a rig is in a bubble. What happens at that instant has happened when it returns.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// do sends the server a command of another client, which has run when it returns.
func (r *rig) do(args ...string) { r.at(func() { r.server.Session("10.9.0.1").Do(args...) }) }

// scripts returns a function that counts the scripts that a client has run since.
func (r *rig) scripts(client int) (n func() int) {
	ran := 0 // guarded by the world's lock
	r.at(func() {
		r.server.Ran = func(_ *simredis.Server, from string, args []string, _ any) {
			if from == host(client) && args[0] == "EVALSHA" {
				ran++
			}
		}
	})
	return func() (n int) { r.at(func() { n = ran }); return n }
}

// refuse makes the server answer all scripts with an error; with "" it runs them again.
func (r *rig) refuse(text string) {
	r.at(func() {
		r.server.Refuse = func(args []string) string {
			if args[0] == "EVALSHA" || args[0] == "EVAL" {
				return text
			}
			return ""
		}
	})
}

// must returns what a call returned without an error.
func must[T any](v T, err error) func(r *rig) T {
	return func(r *rig) T {
		r.Helper()
		if err != nil {
			r.Fatal(err)
		}
		return v
	}
}

// lines is a logger's handler that keeps messages.
type lines struct {
	mu  sync.Mutex // guards all
	all []string
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }
func (l *lines) Handle(_ context.Context, rec slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, rec.Message)
	return nil
}

// of is how many lines have a message.
func (l *lines) of(message string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.all {
		if m == message {
			n++
		}
	}
	return n
}

func since(began time.Time) time.Duration { return time.Since(began).Round(time.Millisecond) }
