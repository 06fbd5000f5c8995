package javapermits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/commandstats"
	"github.com/rlock-go/redisson/integration/internal/onserver"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

const (
	patience = onserver.Patience
	// atOnce is for a waiter that a message wakes. One that missed it looks after four seconds.
	atOnce = 3 * time.Second
	name   = "doc"
	half   = 30 * time.Second
)

// before tells whether a release is older than another. As texts they have that order.
func before(version, other string) bool { return version < other }

// hexIDs tells that a release keeps ids as hex text. It can't name Go's, while Go can name its.
func hexIDs(version string) bool { return before(version, "3.2") }

// side is who uses the semaphore: a Go client or a JVM.
type side interface {
	take(ctx context.Context, n int, lease time.Duration) ([]string, error) // waits
	try(ctx context.Context, wait time.Duration) ([]string, error)          // of one permit for half a minute; no ids: there is none
	release(ctx context.Context, ids ...string) error
	set(ctx context.Context, method string, n int) error
	lease(ctx context.Context, id string, d time.Duration) error
	counts(ctx context.Context) ([3]int, error) // available, acquired, all; Java's oldest know the first only
	delete(ctx context.Context) error
}

type goSide struct {
	*rlock.PermitSemaphore
	client *rlock.Client
	held   map[string]*rlock.Permits // by the first id
}

func newGoSide(t *testing.T, url string, opts ...rlock.Option) *goSide {
	t.Helper()
	c := onserver.Open(t, url, opts...)
	return &goSide{c.NewPermitSemaphore(name), c, map[string]*rlock.Permits{}}
}

func (s *goSide) keep(p *rlock.Permits, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	s.held[p.IDs()[0]] = p
	return p.IDs(), nil
}

func (s *goSide) take(ctx context.Context, n int, lease time.Duration) ([]string, error) {
	return s.keep(s.Acquire(ctx, n, rlock.Lease(lease)))
}

func (s *goSide) try(ctx context.Context, wait time.Duration) ([]string, error) {
	ids, err := s.keep(s.TryAcquireFor(ctx, 1, wait, rlock.Lease(half)))
	if errors.Is(err, rlock.ErrNoPermits) {
		err = nil
	}
	return ids, err
}

func (s *goSide) release(ctx context.Context, ids ...string) error {
	if p := s.held[ids[0]]; p != nil {
		return p.Release(ctx)
	}
	return s.ReleaseIDs(ctx, ids...)
}

func (s *goSide) set(ctx context.Context, method string, n int) error {
	switch method {
	case "trysetpermits":
		_, err := s.TrySetPermits(ctx, n)
		return err
	case "setpermits":
		return s.SetPermits(ctx, n)
	}
	return s.AddPermits(ctx, n)
}

func (s *goSide) lease(ctx context.Context, id string, d time.Duration) error {
	if p := s.held[id]; p != nil {
		return p.Extend(ctx, d)
	}
	return s.SetLease(ctx, id, d)
}

func (s *goSide) counts(ctx context.Context) (n [3]int, err error) {
	var errs [3]error
	n[0], errs[0] = s.Available(ctx)
	n[1], errs[1] = s.Acquired(ctx)
	n[2], errs[2] = s.Total(ctx)
	return n, errors.Join(errs[:]...)
}

func (s *goSide) delete(ctx context.Context) error {
	_, err := s.Delete(ctx)
	return err
}

type javaSide struct {
	*javapeer.Permits
	peer *javapeer.Peer
}

func newJavaSide(t *testing.T, version, url string, opts ...javapeer.Option) *javaSide {
	t.Helper()
	peer := javapeer.Start(t, version, url, opts...)
	return (&javaSide{nil, peer}).on("main")
}

// on is the same on another thread.
func (s *javaSide) on(thread string) *javaSide {
	return &javaSide{s.peer.Thread(thread).Permits(name), s.peer}
}

func (s *javaSide) take(ctx context.Context, n int, lease time.Duration) ([]string, error) {
	if n > 1 {
		r, err := s.AcquireMany(ctx, n, lease)
		return r.Values, err
	}
	r, err := s.Acquire(ctx, lease)
	return r.Values, err
}

func (s *javaSide) try(ctx context.Context, wait time.Duration) ([]string, error) {
	r, err := s.TryAcquireFor(ctx, wait, half)
	if err != nil || r.Text() == "null" {
		return nil, err
	}
	return r.Values, nil
}

func (s *javaSide) release(ctx context.Context, ids ...string) error {
	if len(ids) > 1 {
		return s.ReleaseMany(ctx, ids...)
	}
	return s.Release(ctx, ids[0])
}

func (s *javaSide) set(ctx context.Context, method string, n int) error {
	_, err := s.Set(ctx, method, n)
	return err
}

func (s *javaSide) lease(ctx context.Context, id string, d time.Duration) error {
	r, err := s.UpdateLease(ctx, id, d)
	if err == nil && !r.Bool() {
		err = errors.New("no such permit")
	}
	return err
}

func (s *javaSide) counts(ctx context.Context) (n [3]int, err error) {
	which := []string{"available", "acquired", "total"}
	if hexIDs(s.peer.Version) {
		which = which[:1]
	}
	for i, w := range which {
		r, err := s.Count(ctx, w)
		if err != nil {
			return n, err
		}
		n[i] = int(r.Int())
	}
	return n, nil
}

func (s *javaSide) delete(ctx context.Context) error {
	_, err := s.Delete(ctx)
	return err
}

// rig is what is seen of one semaphore on a server.
type rig struct {
	*onserver.View
	ctx context.Context
}

// limit bounds what is done for one test, so that one who waits in vain fails it.
const limit = 90 * time.Second

// Context is that of all calls.
func (r *rig) Context() context.Context { return r.ctx }

// of is the same for a test, or for a part of one.
func (r *rig) of(t *testing.T) *rig { return bounded(r.For(t)) }

func bounded(v *onserver.View) *rig {
	ctx, cancel := context.WithTimeout(v.Context(), limit)
	v.Cleanup(cancel)
	return &rig{v, ctx}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return bounded(onserver.Start(t))
}

// tries is how many acquires the server has run.
func (r *rig) tries() int64 {
	r.Helper()
	calls, err := commandstats.Read(r.Conn)
	r.Must(err)
	return calls["get"]
}

// listens has somebody begin to wait, and returns when its client listens and has tried once more behind that.
func (r *rig) listens(begin func() <-chan []string) <-chan []string {
	r.Helper()
	channel, before := codec.PermitChannel(name), r.tries()
	got := begin()
	r.Eventually("one who listens", func() bool {
		counts, err := redis.IntMap(r.Do("PUBSUB", "NUMSUB", channel), nil)
		return err == nil && counts[channel] == 1 && r.tries() >= before+2
	})
	return got
}

// listeningTo waits until so many clients listen, and for a moment in which they look behind that. One that looks later
// finds what it waits for without the message, which is as right.
func (r *rig) listeningTo(channel string, n int) {
	r.Helper()
	r.Eventually("clients that listen", func() bool {
		counts, err := redis.IntMap(r.Do("PUBSUB", "NUMSUB", channel), nil)
		return err == nil && counts[channel] == n
	})
	time.Sleep(50 * time.Millisecond)
}

// now is the server's clock, in ms.
func (r *rig) now() int64 {
	r.Helper()
	clock, err := redis.Int64s(r.Do("TIME"), nil)
	r.Must(err)
	return clock[0]*1000 + clock[1]/1000
}

// state is what the server has. Times are apart, in ms.
type state struct {
	exact []string
	times map[string]int64
}

const never = 922337203685477

// look tells what the server has, and what was published since the last look. Permits are named by their order in time.
func (r *rig) look() state {
	r.Helper()
	s := state{times: map[string]int64{}}
	now := r.now()
	keys, err := redis.Strings(r.Do("KEYS", "*"), nil)
	r.Must(err)
	for _, key := range keys {
		if strings.HasPrefix(key, "redisson_unlock_latch:") {
			continue // receipts, which are deleted soon
		}
		ttl := r.Do("PTTL", key).(int64)
		if s.times["TTL of "+key] = ttl; r.Do("TYPE", key) == "string" {
			s.exact = append(s.exact, fmt.Sprintf("%s = %s", key, r.Do("GET", key)))
			continue
		}
		pairs, err := redis.Strings(r.Do("ZRANGE", key, 0, -1, "WITHSCORES"), nil)
		r.Must(err)
		for i := 0; i < len(pairs); i += 2 {
			var till int64
			fmt.Sscan(pairs[i+1], &till)
			s.exact = append(s.exact, fmt.Sprintf("%s has an id of %d bytes", key, len(pairs[i])))
			if till == never {
				s.exact = append(s.exact, "for ever")
			} else {
				s.times[fmt.Sprint("permit ", i/2)] = till - now
			}
		}
	}
	slices.Sort(s.exact)
	for _, m := range r.Messages() {
		s.exact = append(s.exact, fmt.Sprintf("%s says %s", m.Channel, m.Data))
	}
	return s
}
