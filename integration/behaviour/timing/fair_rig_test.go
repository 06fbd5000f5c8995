package timing

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// fairQueue is a fair lock's queue on a server.
type fairQueue struct {
	t    *testing.T
	conn redis.Conn
	name string
}

func (q fairQueue) owners() []string {
	q.t.Helper()
	all, err := redis.Strings(q.conn.Do("LRANGE", codec.FairQueue(q.name), 0, -1))
	if err != nil {
		q.t.Fatal(err)
	}
	return all
}

// long waits until n owners have a place.
func (q fairQueue) long(n int) (all []string) {
	q.t.Helper()
	becomes(q.t, fmt.Sprint(n, " have a place"), func() bool { all = q.owners(); return len(all) == n })
	return all
}

// told is long, and then waits until the server has answered the attempts of l's client.
func (q fairQueue) told(l *rlock.Lock, n int) {
	q.t.Helper()
	q.long(n)
	if _, err := l.IsLocked(q.t.Context()); err != nil { // its reply follows theirs
		q.t.Fatal(err)
	}
}

// tried waits until the tap has seen n attempts.
func (q fairQueue) tried(tap *tap, n int) {
	q.t.Helper()
	seen := 0
	becomes(q.t, fmt.Sprint(n, " tries"), func() bool {
		seen += fairTries(tap.Mark())
		return seen >= n
	})
}

// fairTries counts the attempts to acquire a fair lock. Renewals and reads of held keys are scripts
// too.
func fairTries(lines []monitor.Line) (n int) {
	for _, line := range lines {
		if line.Is("EVALSHA") && line.Args[1] == luasrc.FairLockScript.SHA1 {
			n++
		}
	}
	return n
}

// listening waits until n owners' channels have a subscriber.
func (q fairQueue) listening(n int) {
	q.t.Helper()
	becomes(q.t, fmt.Sprint(n, " listen"), func() bool {
		all, err := redis.Strings(q.conn.Do("PUBSUB", "CHANNELS", codec.Channel(q.name)+":*"))
		if err != nil {
			q.t.Fatal(err)
		}
		return len(all) == n
	})
}

// keeps returns how long an owner still keeps its place.
func (q fairQueue) keeps(owner string) time.Duration {
	q.t.Helper()
	till, err := redis.String(q.conn.Do("ZSCORE", codec.FairTimes(q.name), owner))
	if err != nil {
		q.t.Fatal(err)
	}
	ms, err := strconv.ParseInt(till, 10, 64)
	if err != nil {
		q.t.Fatal(err)
	}
	return time.Until(time.UnixMilli(ms))
}

// gone checks that no key of the lock is left, except latches.
func (q fairQueue) gone() {
	q.t.Helper()
	left, err := redis.Int(q.conn.Do("EXISTS", q.name, codec.FairQueue(q.name), codec.FairTimes(q.name)))
	if err != nil || left != 0 {
		q.t.Errorf("%d keys are left, %v", left, err)
	}
}

// stranger puts an owner that never comes into the queue, for d.
func (q fairQueue) stranger(d time.Duration) string {
	q.t.Helper()
	owner := "550e8400-e29b-41d4-a716-446655440000:31"
	_, err := q.conn.Do("RPUSH", codec.FairQueue(q.name), owner)
	if err == nil {
		_, err = q.conn.Do("ZADD", codec.FairTimes(q.name), time.Now().Add(d).UnixMilli(), owner)
	}
	if err != nil {
		q.t.Fatal(err)
	}
	return owner
}

// result is how a wait ended.
type result struct {
	who int
	h   *rlock.Hold
	err error
	at  time.Time
}

// fairWaits starts a waiter and returns when it has the n-th place.
func fairWaits(ctx context.Context, q fairQueue, l *rlock.Lock, n, who int, ended chan<- result, opts ...rlock.AcquireOption) {
	q.t.Helper()
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- result{who, h, err, time.Now()}
	}()
	q.long(n)
}

// nextOf waits for the next wait that ends, and demands that it has a hold.
func nextOf(t *testing.T, ended <-chan result) result {
	t.Helper()
	select {
	case r := <-ended:
		if r.err != nil {
			t.Fatalf("%d: %v", r.who, r.err)
		}
		return r
	case <-time.After(2 * soon):
		t.Fatal("nobody enters")
	}
	panic("unreachable")
}
