// Package testbed is what tests of the library against a real server have in
// common: a rig with a connection of its own, which asks the server, waits for
// states, and takes and releases locks that must be free or held.
//
// A test package embeds [Rig] in a rig that knows its server, and adds what it
// alone needs.
package testbed

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

const (
	// Patience is for what comes at once if all is well.
	Patience = 20 * time.Second

	pollEvery = 5 * time.Millisecond // for states that nothing announces
)

// Rig is a test with a connection of its own to a server. What its methods
// can't do ends the test.
type Rig struct {
	*testing.T
	Server redisserver.Server // not the rig's own: it may have other users
	Conn   redis.Conn         // to Server, with all rights
}

// New connects to a server.
func New(t *testing.T, s redisserver.Server) *Rig {
	t.Helper()
	r := &Rig{T: t, Server: s}
	r.Redial()
	return r
}

// Redial replaces the rig's connection, for after a restart.
func (r *Rig) Redial() {
	r.Helper()
	r.Conn = redisserver.Dial(r.T, r.Server)
}

// Do sends a command on the rig's connection.
func (r *Rig) Do(command string, args ...any) any {
	r.Helper()
	reply, err := r.Conn.Do(command, args...)
	if err != nil {
		r.Fatalf("%s %.200q: %v", command, args, err)
	}
	return reply
}

// Number is an integer reply, or a string that is one; nil is 0.
func (r *Rig) Number(command string, args ...any) int {
	r.Helper()
	n, err := redis.Int(r.Do(command, args...), nil)
	if err != nil && !errors.Is(err, redis.ErrNil) {
		r.Fatalf("%s %.200q: %v", command, args, err)
	}
	return n
}

// PTTL is what is left of a key: -1 ms, it has no TTL; -2 ms, there is no such
// key.
func (r *Rig) PTTL(key string) time.Duration {
	r.Helper()
	return time.Duration(r.Number("PTTL", key)) * time.Millisecond
}

// LoadScripts keeps NOSCRIPT, and the second try after it, out of a test.
func (r *Rig) LoadScripts() {
	r.Helper()
	for _, s := range luasrc.Scripts() {
		r.Do("SCRIPT", "LOAD", s.Source)
	}
}

// Channel is where a lock's unlocks are announced, spelled out once more: the
// library's own spelling is what is tested.
func Channel(name string) string {
	if strings.Contains(name, "{") {
		return "redisson_lock__channel:" + name
	}
	return "redisson_lock__channel:{" + name + "}"
}

// Subscribed is how many clients are subscribed for a lock.
func (r *Rig) Subscribed(name string) int {
	r.Helper()
	reply, err := redis.Values(r.Do("PUBSUB", "NUMSUB", Channel(name)), nil)
	if err != nil || len(reply) != 2 {
		r.Fatalf("PUBSUB NUMSUB: %v, %v", reply, err)
	}
	n, err := redis.Int(reply[1], nil)
	if err != nil {
		r.Fatal(err)
	}
	return n
}

// Listeners waits until so many clients are subscribed for a lock: each has
// somebody who waits.
func (r *Rig) Listeners(name string, n int) {
	r.Helper()
	r.Becomes("the lock's channel has its subscribers", func() bool { return r.Subscribed(name) == n })
}

// Becomes waits for a state.
func (r *Rig) Becomes(what string, state func() bool) {
	r.Helper()
	if !Eventually(state) {
		r.Fatalf("never: %s", what)
	}
}

// Eventually waits for a state, and reports whether it came.
func Eventually(state func() bool) bool {
	for end := time.Now().Add(Patience); !state(); {
		if time.Now().After(end) {
			return false
		}
		<-time.After(pollEvery)
	}
	return true
}

// Open makes a client that ends with the test.
func (r *Rig) Open(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), url, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// Lock acquires what must be free.
func (r *Rig) Lock(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// Hold acquires what must be free as a caller does who would wait.
func (r *Rig) Hold(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.Lock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// Unlock releases what must be held.
func (r *Rig) Unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// Main runs a package's tests, and fails if a goroutine is left.
//
// Most of such tests wait, so that more of them than there are cores may wait
// together: parallel is how many, unless the command line says.
func Main(m *testing.M, parallel string) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
