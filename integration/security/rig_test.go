package security

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Most tests wait, so more of them than there are cores may wait together. What the command line says wins.
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	patience  = 20 * time.Second // for what comes at once if all is well
	pollEvery = 5 * time.Millisecond
	timeout   = 500 * time.Millisecond // of one command, where trouble is awaited
)

// rig is a test with an all-powerful connection to its server.
type rig struct {
	*testing.T
	server redisserver.Server
	conn   redis.Conn
}

func on(t *testing.T, s redisserver.Server) *rig {
	t.Helper()
	return &rig{t, s, redisserver.Dial(t, s)}
}

func (r *rig) do(command string, args ...any) any {
	r.Helper()
	reply, err := r.conn.Do(command, args...)
	if err != nil {
		r.Fatalf("%s %.200q: %v", command, args, err)
	}
	return reply
}

func (r *rig) number(command string, args ...any) int {
	r.Helper()
	n, err := redis.Int(r.do(command, args...), nil)
	if err != nil {
		r.Fatalf("%s: %v", command, err)
	}
	return n
}

func (r *rig) loadScripts() {
	r.Helper()
	for _, s := range luasrc.Scripts() {
		r.do("SCRIPT", "LOAD", s.Source)
	}
}

func (r *rig) open(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), url, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// becomes waits for a state.
func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	if err := eventually(what, state); err != nil {
		r.Fatal(err)
	}
}

func eventually(what string, state func() bool) error {
	for end := time.Now().Add(patience); !state(); {
		if time.Now().After(end) {
			return errors.New("never: " + what)
		}
		<-time.After(pollEvery)
	}
	return nil
}

// entry is how a wait ended.
type entry struct {
	hold *rlock.Hold
	err  error
}

// enter waits for a lock on a goroutine of its own.
func enter(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan entry {
	ended := make(chan entry, 1)
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- entry{h, err}
	}()
	return ended
}

func (r *rig) entered(waiter <-chan entry) *rlock.Hold {
	r.Helper()
	select {
	case e := <-waiter:
		if e.err != nil {
			r.Fatal(e.err)
		}
		return e.hold
	case <-time.After(patience):
		r.Fatal("the waiter never entered")
		return nil
	}
}

func unique() string { return rand.Text()[:10] }
