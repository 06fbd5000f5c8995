package behaviour_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

const (
	patience  = 20 * time.Second     // for what comes at once if all is well
	pollEvery = 5 * time.Millisecond // for states that nothing announces
)

// rig is a test with a server and a connection of its own to it.
type rig struct {
	*testing.T
	server redisserver.Server
	conn   redis.Conn
}

// start takes the server that the environment chooses. It may have other users.
func start(t *testing.T) *rig {
	t.Helper()
	return on(t, redisserver.Start(t))
}

// own starts a server that nobody else uses.
func own(t *testing.T, args ...string) (*rig, *redisserver.LocalServer) {
	t.Helper()
	s := redisserver.Local(t, args...)
	return on(t, s), s
}

func on(t *testing.T, s redisserver.Server) *rig {
	t.Helper()
	r := &rig{T: t, server: s}
	r.redial()
	return r
}

// redial replaces the rig's connection, for after a restart.
func (r *rig) redial() {
	r.Helper()
	r.conn = redisserver.Dial(r.T, r.server)
}

// open makes a client that ends with the test.
func (r *rig) open(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return r.openURL(r.server.URL(), opts...)
}

func (r *rig) openURL(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), url, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// name is a lock name that nobody else uses.
func (r *rig) name() string { return "behaviour/" + r.Name() + "/" + rand.Text()[:10] }

// do sends a command on the rig's connection.
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
	if err != nil {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return n
}

func (r *rig) text(command string, args ...any) string {
	r.Helper()
	s, err := redis.String(r.do(command, args...), nil)
	if err != nil && !errors.Is(err, redis.ErrNil) {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return s
}

func (r *rig) list(command string, args ...any) []string {
	r.Helper()
	l, err := redis.Strings(r.do(command, args...), nil)
	if err != nil {
		r.Fatalf("%s %v: %v", command, args, err)
	}
	return l
}

// pttl is what is left of a key: negative where PTTL is.
func (r *rig) pttl(key string) time.Duration {
	r.Helper()
	return time.Duration(r.number("PTTL", key)) * time.Millisecond
}

func channel(name string) string { return "redisson_lock__channel:{" + name + "}" }

// listeners waits until so many clients are subscribed for a lock: each has somebody who waits.
func (r *rig) listeners(name string, n int) {
	r.Helper()
	r.becomes("the lock's channel has its subscribers", func() bool { return r.subscribed(name) == n })
}

// subscribed is how many clients are subscribed for a lock.
func (r *rig) subscribed(name string) int {
	r.Helper()
	reply, err := redis.Values(r.do("PUBSUB", "NUMSUB", channel(name)), nil)
	if err != nil || len(reply) != 2 {
		r.Fatalf("PUBSUB NUMSUB: %v, %v", reply, err)
	}
	n, err := redis.Int(reply[1], nil)
	if err != nil {
		r.Fatal(err)
	}
	return n
}

// becomes waits for a state.
func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !state(); {
		if time.Now().After(end) {
			r.Fatalf("never: %s", what)
		}
		<-time.After(pollEvery)
	}
}

// lock acquires what must be free.
func (r *rig) lock(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// unlock releases what must be held.
func (r *rig) unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// entry is how a wait ended.
type entry struct {
	hold *rlock.Hold
	err  error
	at   time.Time
}

// enter waits for a lock on a goroutine of its own.
func (r *rig) enter(l *rlock.Lock, opts ...rlock.AcquireOption) <-chan entry {
	return r.enterUntil(r.Context(), l, opts...)
}

func (r *rig) enterUntil(ctx context.Context, l *rlock.Lock, opts ...rlock.AcquireOption) <-chan entry {
	ended := make(chan entry, 1)
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- entry{h, err, time.Now()}
	}()
	return ended
}

// entered waits for the end of a wait that must succeed.
func (r *rig) entered(ch <-chan entry) entry {
	r.Helper()
	e := receive(r, "the waiter to enter", ch)
	if e.err != nil {
		r.Fatal(e.err)
	}
	return e
}

// outside checks that somebody still waits.
func (r *rig) outside(ch <-chan entry) {
	r.Helper()
	select {
	case e := <-ch:
		r.Fatalf("the wait ended early: %v", e.err)
	default:
	}
}

// receive waits for a value that must come.
func receive[T any](r *rig, what string, ch <-chan T) T {
	r.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		r.Fatalf("waited %v for %s", patience, what)
		panic("unreachable")
	}
}

// wants checks that an error is another and says all of these.
func wants(t testing.TB, err, target error, texts ...string) {
	t.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

// between checks that a time took from least to most.
func between(t testing.TB, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least || d > most {
		t.Errorf("%s took %v, want %v to %v", what, d, least, most)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(r *rig, s string) int {
	r.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		r.Fatal(err)
	}
	return n
}
