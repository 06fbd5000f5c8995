package javafair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/onserver"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

const (
	name     = "tickets"
	patience = onserver.Patience
	noTime   = -2 // a wait that Java is given as 0; in Go both are one attempt
)

// side is who waits for the lock: a Go client or a JVM.
type side interface {
	// acquire waits as somebody, at most so long; 0: without a limit, below 0: one attempt. Without the lock it is an error.
	// A lease of 0 is the watchdog's.
	acquire(who string, wait, lease time.Duration) error
	// reenter acquires once more as whoever holds.
	reenter(who string) error
	// unlock gives up one hold of somebody, or fails for one who has none.
	unlock(who string) error
	force() bool
}

var errLocked = errors.New("another has the lock")

// goSide is a side whose owners are acquisitions.
type goSide struct {
	lock   *rlock.Lock
	client *rlock.Client
	ctx    context.Context
	// everyWait is the time that each place is kept, whatever the waiter's limit; 0: the limit.
	everyWait time.Duration

	mu    sync.Mutex // guards holds
	holds map[string][]*rlock.Hold
}

func newGoSide(t *testing.T, url string, opts ...rlock.Option) *goSide {
	t.Helper()
	c := onserver.Open(t, url, opts...)
	return &goSide{lock: c.NewFairLock(name), client: c, ctx: t.Context(), holds: map[string][]*rlock.Hold{}}
}

func (s *goSide) acquire(who string, wait, lease time.Duration) error {
	return s.acquireWith(s.ctx, who, wait, lease)
}

func (s *goSide) acquireWith(ctx context.Context, who string, wait, lease time.Duration, opts ...rlock.AcquireOption) error {
	switch {
	case wait > 0 && s.everyWait > 0: // a limit of ctx is none of the queue's
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	case wait != 0:
		opts = append(opts, rlock.Wait(max(wait, 0)))
	}
	if lease > 0 {
		opts = append(opts, rlock.Lease(lease))
	}
	h, err := s.lock.Lock(ctx, opts...)
	if errors.Is(err, rlock.ErrLocked) || s.everyWait > 0 && errors.Is(err, context.DeadlineExceeded) {
		return errLocked
	}
	if err == nil {
		s.mu.Lock()
		s.holds[who] = append(s.holds[who], h)
		s.mu.Unlock()
	}
	return err
}

func (s *goSide) reenter(who string) error {
	return s.acquireWith(s.ctx, who, 0, 0, rlock.As(s.last(who).Owner()))
}

func (s *goSide) last(who string) *rlock.Hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.holds[who]); n > 0 {
		return s.holds[who][n-1]
	}
	return nil
}

func (s *goSide) unlock(who string) error {
	h := s.last(who)
	if h == nil {
		return s.lock.UnlockAs(s.ctx, s.client.NewOwner())
	}
	s.mu.Lock()
	s.holds[who] = s.holds[who][:len(s.holds[who])-1]
	s.mu.Unlock()
	return h.Unlock(s.ctx)
}

func (s *goSide) force() bool {
	forced, err := s.lock.ForceUnlock(s.ctx)
	return forced && err == nil
}

// javaSide is a side whose owners are threads.
type javaSide struct {
	peer *javapeer.Peer
	ctx  context.Context
}

func newJavaSide(t *testing.T, version, url string, opts ...javapeer.Option) *javaSide {
	t.Helper()
	return &javaSide{javapeer.Start(t, version, url, opts...), t.Context()}
}

func (s *javaSide) thread(who string) *javapeer.Thread { return s.peer.Thread(who).Of(javapeer.Fair) }

func (s *javaSide) acquire(who string, wait, lease time.Duration) error {
	if lease == 0 {
		lease = javapeer.Watchdog
	}
	t := s.thread(who)
	var got javapeer.Reply
	var err error
	switch {
	case wait == noTime:
		got, err = t.TryLockFor(s.ctx, name, 0, lease)
	case wait < 0:
		got, err = t.TryLock(s.ctx, name)
	case wait == 0:
		_, err = t.Lock(s.ctx, name, lease)
		return err
	default:
		got, err = t.TryLockFor(s.ctx, name, wait, lease)
	}
	if err == nil && !got.Bool() {
		return errLocked
	}
	return err
}

func (s *javaSide) reenter(who string) error { return s.acquire(who, 0, 0) }

func (s *javaSide) unlock(who string) error {
	_, err := s.thread(who).Unlock(s.ctx, name)
	return err
}

func (s *javaSide) force() bool {
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	r, err := s.thread("force").ForceUnlock(ctx, name)
	return err == nil && r.Bool()
}

// rig is what is seen of the lock on a server.
type rig struct{ *onserver.View }

func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{onserver.Start(t)}
}

func (r *rig) queue() []string { return r.Strings("LRANGE", codec.FairQueue(name), 0, -1) }

// stands waits until n owners have a place and listen, each on its channel.
func (r *rig) stands(n int) {
	r.Helper()
	r.Eventually(fmt.Sprintf("%d places, listeners", n), func() bool {
		return len(r.queue()) == n && len(r.Strings("PUBSUB", "CHANNELS", codec.Channel(name)+":*")) == n
	})
}

// free waits until nothing of the lock is left.
func (r *rig) free() {
	r.Helper()
	r.Eventually("nothing left", func() bool {
		return r.Do("EXISTS", name, codec.FairQueue(name), codec.FairTimes(name)) == int64(0)
	})
}

// state is what the server has. Owners are named in order of appearance. What passes with time is apart.
type state struct {
	step   string
	after  time.Duration // since the scene began
	exact  []string
	passes []string
	ms     []int64
}

// look tells what the server has, and what was published since the last look.
func (r *rig) look(step string) state {
	r.Helper()
	s := state{step: step}
	keys := r.Strings("KEYS", "*")
	slices.Sort(keys)
	for _, key := range keys {
		if !strings.HasPrefix(key, "redisson_unlock_latch:") {
			s.exact = append(s.exact, fmt.Sprintf("%s %s", key, r.Do("TYPE", key)))
			s.passes, s.ms = append(s.passes, "TTL of "+key), append(s.ms, r.Do("PTTL", key).(int64))
		}
	}
	fields, err := redis.StringMap(r.Do("HGETALL", name), nil)
	if err != nil {
		r.Fatal(err)
	}
	for owner, count := range fields {
		s.exact = append(s.exact, r.Named(owner)+" holds "+count)
	}
	now, err := redis.Int64s(r.Do("TIME"), nil)
	if err != nil {
		r.Fatal(err)
	}
	for i, owner := range r.queue() {
		s.exact = append(s.exact, fmt.Sprintf("place %d %s", i, r.Named(owner)))
	}
	times := r.Strings("ZRANGE", codec.FairTimes(name), 0, -1, "WITHSCORES")
	for i := 0; i < len(times); i += 2 {
		till, err := strconv.ParseInt(times[i+1], 10, 64)
		if err != nil {
			r.Fatalf("a time that is no number: %q", times[i+1])
		}
		s.passes, s.ms = append(s.passes, "time of "+r.Named(times[i])), append(s.ms, till-now[0]*1000-now[1]/1000)
	}
	slices.Sort(s.exact)
	s.exact = append(s.exact, r.messages()...)
	return s
}

// messages are those since the last look, with the owners that they are for.
func (r *rig) messages() (all []string) {
	r.Helper()
	for _, m := range r.Messages() {
		channel := m.Channel
		if owner, ok := strings.CutPrefix(channel, codec.Channel(name)+":"); ok {
			channel = codec.Channel(name) + ":" + r.Named(owner)
		}
		all = append(all, fmt.Sprintf("%s says %s", channel, m.Data))
	}
	return all
}
