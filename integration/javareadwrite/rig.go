package javareadwrite

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
	"github.com/rlock-go/redisson/integration/internal/onserver"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

const (
	patience = onserver.Patience
	// atOnce is for a waiter that a message wakes. One that missed it waits for the rest of a lease.
	atOnce = 3 * time.Second
	read   = javapeer.Read
	write  = javapeer.Write
)

// side is who uses the lock called name: a Go client or a JVM. who is an owner.
type side interface {
	lock(who string, k javapeer.Kind, lease time.Duration) error // waits; a lease of 0 is the watchdog's
	try(who string, k javapeer.Kind) bool                        // makes one attempt
	unlock(who string, k javapeer.Kind) error                    // gives up the latest hold of the kind
	force(k javapeer.Kind) bool
}

// goSide is a side whose owners are made by its client.
type goSide struct {
	t      *testing.T
	client *rlock.Client
	name   string
	owners map[string]rlock.Owner
	holds  map[string][]*rlock.Hold
}

func newGoSide(t *testing.T, url, name string, opts ...rlock.Option) *goSide {
	t.Helper()
	c := onserver.Open(t, url, opts...)
	return &goSide{t: t, client: c, name: name, owners: map[string]rlock.Owner{}, holds: map[string][]*rlock.Hold{}}
}

func (s *goSide) of(k javapeer.Kind) *rlock.Lock { return k.GoLock(s.client, s.name) }

func (s *goSide) owner(who string) rlock.Owner {
	if s.owners[who] == (rlock.Owner{}) {
		s.owners[who] = s.client.NewOwner()
	}
	return s.owners[who]
}

func (s *goSide) lock(who string, k javapeer.Kind, lease time.Duration) error {
	opts := []rlock.AcquireOption{rlock.As(s.owner(who))}
	if lease > 0 {
		opts = append(opts, rlock.Lease(lease))
	}
	return s.keep(who, k)(s.of(k).Lock(s.t.Context(), opts...))
}

func (s *goSide) keep(who string, k javapeer.Kind) func(h *rlock.Hold, err error) error {
	return func(h *rlock.Hold, err error) error {
		if err == nil {
			s.holds[who+string(k)] = append(s.holds[who+string(k)], h)
		}
		return err
	}
}

func (s *goSide) try(who string, k javapeer.Kind) bool {
	return s.keep(who, k)(s.of(k).TryLock(s.t.Context(), rlock.As(s.owner(who)))) == nil
}

func (s *goSide) last(who string, k javapeer.Kind) *rlock.Hold {
	if all := s.holds[who+string(k)]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (s *goSide) unlock(who string, k javapeer.Kind) error {
	h := s.last(who, k)
	if h == nil {
		return s.of(k).UnlockAs(s.t.Context(), s.client.NewOwner())
	}
	s.holds[who+string(k)] = s.holds[who+string(k)][:len(s.holds[who+string(k)])-1]
	return h.Unlock(s.t.Context())
}

func (s *goSide) force(k javapeer.Kind) bool {
	forced, err := s.of(k).ForceUnlock(s.t.Context())
	return forced && err == nil
}

// javaSide is a side whose owners are threads.
type javaSide struct {
	t    *testing.T
	peer *javapeer.Peer
	name string
}

func newJavaSide(t *testing.T, version, url, name string, opts ...javapeer.Option) *javaSide {
	t.Helper()
	return &javaSide{t, javapeer.Start(t, version, url, opts...), name}
}

func (s *javaSide) of(who string, k javapeer.Kind) *javapeer.Thread { return s.peer.Thread(who).Of(k) }

func (s *javaSide) lock(who string, k javapeer.Kind, lease time.Duration) error {
	if lease == 0 {
		lease = javapeer.Watchdog
	}
	_, err := s.of(who, k).Lock(s.t.Context(), s.name, lease)
	return err
}

func (s *javaSide) try(who string, k javapeer.Kind) bool {
	got, err := s.of(who, k).TryLock(s.t.Context(), s.name)
	return err == nil && got.Bool()
}

func (s *javaSide) unlock(who string, k javapeer.Kind) error {
	_, err := s.of(who, k).Unlock(s.t.Context(), s.name)
	return err
}

func (s *javaSide) force(k javapeer.Kind) bool {
	r, err := s.of("force", k).ForceUnlock(s.t.Context(), s.name)
	return err == nil && r.Bool()
}

// waits has a thread wait for a lock, and returns when it does.
func (s *javaSide) waits(who string, k javapeer.Kind) <-chan error {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.lock(who, k, 0) }()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := s.of(who, k).AwaitParked(ctx); err != nil {
		s.t.Fatal(err)
	}
	return ended
}

// sleep waits until threads that wait are asleep again after a wake-up that was for others too. A release of the write lock
// wakes those of Redisson's threads that are asleep at that moment; one that is about to be learns of it when the lease that
// it was told is over.
func (s *javaSide) sleep(k javapeer.Kind, all ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	time.Sleep(50 * time.Millisecond)
	for _, who := range all {
		if err := s.of(who, k).AwaitParked(ctx); err != nil {
			s.t.Fatal(err)
		}
	}
}

// rig is what is seen of one lock on a server.
type rig struct {
	*onserver.View
	name string
}

func newRig(t *testing.T, name string) *rig {
	t.Helper()
	return &rig{onserver.Start(t), name}
}

func (r *rig) fields() map[string]string {
	r.Helper()
	fields, err := redis.StringMap(r.Do("HGETALL", r.name), nil)
	r.Must(err)
	return fields
}

// ttl is what the lock's key has left, in ms or as Redis tells it.
func (r *rig) ttl() time.Duration {
	r.Helper()
	return time.Duration(r.Do("PTTL", r.name).(int64)) * time.Millisecond
}

// listening waits until so many clients listen for a release.
func (r *rig) listening(n int) {
	r.Helper()
	channel := codec.ReadWriteChannel(r.name)
	r.Eventually("clients that listen", func() bool {
		counts, err := redis.IntMap(r.Do("PUBSUB", "NUMSUB", channel), nil)
		return err == nil && counts[channel] == n
	})
}

// state is what the server has. Owners are named in order of appearance. TTLs are apart.
type state struct {
	after time.Duration // since the scene began
	exact []string
	ttls  map[string]int64
}

// look tells what the server has, and what was published since the last look. Latches end by themselves.
func (r *rig) look() state {
	r.Helper()
	s := state{ttls: map[string]int64{}}
	for field, count := range r.fields() {
		if field != "mode" {
			owner, writes := strings.CutSuffix(field, ":write")
			field = r.Named(owner)
			if writes {
				field += ":write"
			}
		}
		s.exact = append(s.exact, field+" = "+count)
	}
	keys, err := redis.Strings(r.Do("KEYS", "*"), nil)
	r.Must(err)
	for _, key := range keys {
		if strings.HasPrefix(key, "redisson_unlock_latch:") {
			continue
		}
		kind, ttl := r.Do("TYPE", key), r.Do("PTTL", key).(int64)
		if ttl == -2 {
			continue // it has just ended
		}
		shown := key
		if rest, ok := strings.CutPrefix(key, codec.ReadHolds(r.name)+":"); ok && key != r.name {
			owner, hold, _ := strings.Cut(rest, ":rwlock_timeout:")
			shown = fmt.Sprintf("%s hold %s", r.Named(owner), hold)
			kind = fmt.Sprintf("%s %s", kind, r.Do("GET", key))
		}
		s.exact = append(s.exact, fmt.Sprintf("%s %s", shown, kind))
		s.ttls[shown] = ttl
	}
	slices.Sort(s.exact)
	for _, m := range r.Messages() {
		s.exact = append(s.exact, fmt.Sprintf("%s says %s", m.Channel, m.Data))
	}
	return s
}

// notHeld tells whether an unlock found nothing, as either side says it.
func notHeld(err error) bool {
	e, java := errors.AsType[*javapeer.JavaError](err)
	return errors.Is(err, rlock.ErrNotHeld) || java && e.Class == "java.lang.IllegalMonitorStateException"
}
