package javapeer

import (
	"context"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"
)

// full is for make test-all.
var full = flag.Bool("full", false, "run against all recorded releases, not only the newest and the oldest")

// patience bounds waits for what should take milliseconds, on a loaded machine.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(orphanEnv) != "" {
		launchOrphans()
	}
	goleak.VerifyTestMain(m)
}

func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	for _, v := range Versions(*full) {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			test(t, v)
		})
	}
}

// must unwraps the result of a command that has to succeed.
func must(t *testing.T) func(Reply, error) Reply {
	return func(r Reply, err error) Reply {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func wantJavaError(t *testing.T, err error, class string) *JavaError {
	t.Helper()
	e, ok := errors.AsType[*JavaError](err)
	if !ok || e.Class != class {
		t.Fatalf("got %v, want a %s", err, class)
	}
	return e
}

// eventually polls until the state is there.
func eventually(t *testing.T, what string, state func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !state() {
		if time.Now().After(deadline) {
			t.Fatalf("%v passed without: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func awaitParked(t *testing.T, th *Thread) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := th.AwaitParked(ctx); err != nil {
		t.Fatal(err)
	}
}

// waiters is how many connections listen for the lock's release.
func waiters(t *testing.T, c redis.Conn, name string) int {
	t.Helper()
	counts, err := redis.IntMap(c.Do("PUBSUB", "NUMSUB", "redisson_lock__channel:{"+name+"}"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range counts {
		n += v
	}
	return n
}

func exists(t *testing.T, c redis.Conn, key string) bool {
	t.Helper()
	there, err := redis.Bool(c.Do("EXISTS", key))
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func call[T any](f func() (T, error)) <-chan result[T] {
	c := make(chan result[T], 1)
	go func() {
		v, err := f()
		c <- result[T]{v, err}
	}()
	return c
}

type result[T any] struct {
	value T
	err   error
}

func await[T any](t *testing.T, c <-chan result[T]) (T, error) {
	t.Helper()
	select {
	case r := <-c:
		return r.value, r.err
	case <-time.After(patience):
		t.Fatalf("no answer within %v", patience)
		panic("unreachable")
	}
}
