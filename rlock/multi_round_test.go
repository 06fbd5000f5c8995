package rlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestMultiLockIsWokenByTheMemberThatItWaitsFor(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	for i, l := range others {
		taken := lockOf(t, l)
		ended := make(chan error, 1)
		go func() {
			ended <- m.Do(t.Context(), func(ctx context.Context) error { return ctx.Err() }, Wait(time.Minute))
		}()
		awaitQueued(t, m.members[i], 1)
		for k, before := range m.members[:i] {
			if held, err := before.IsLocked(t.Context()); !held || err != nil {
				t.Errorf("%s, number %d, is not kept: %v", before.Name(), k, err)
			}
		}
		mustUnlock(t, taken)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		m.held(t, false, false, false)
	}
}

// All members have the lease counted from the last grant, whatever lease the first ones had during the wait.
func TestMultiLockSetsTheLeaseOfAllItsMembersAtLast(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	taken := lockOf(t, others[2])
	type end struct {
		h   *MultiHold
		err error
	}
	ended := make(chan end, 1)
	go func() {
		h, err := m.Lock(t.Context(), Lease(20*time.Second))
		ended <- end{h, err}
	}()
	awaitQueued(t, m.members[2], 1)
	ttl := func(i int) time.Duration {
		ms, err := redis.Int64(m.keys[i].Do("PTTL", m.members[i].Name()))
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(ms) * time.Millisecond
	}
	if during := ttl(0); during <= 20*time.Second {
		t.Errorf("%v while the round lasts", during)
	}
	mustUnlock(t, taken)
	e := <-ended
	if e.err != nil {
		t.Fatal(e.err)
	}
	for i := range m.members {
		if left := ttl(i); left > 20*time.Second || left < 10*time.Second {
			t.Errorf("%s has %v", m.members[i].Name(), left)
		}
	}
	if left := time.Until(e.h.ValidUntil()); left > 20*time.Second {
		t.Errorf("valid for %v", left)
	}
	if err := e.h.Extend(t.Context(), time.Minute); err != nil || time.Until(e.h.ValidUntil()) < 30*time.Second {
		t.Errorf("%v, valid until %v", err, e.h.ValidUntil())
	}
	multiUnlocked(t, e.h)
}

// Redisson sets the lease even if another owner holds the member by then. This client does not.
func TestMultiLockSetsNobodyElsesLease(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	taken := lockOf(t, others[1])
	ended := make(chan error, 1)
	go func() {
		_, err := m.Lock(t.Context(), Lease(20*time.Second))
		ended <- err
	}()
	awaitQueued(t, m.members[1], 1)
	if _, err := m.keys[0].Do("DEL", "account"); err != nil {
		t.Fatal(err)
	}
	thief := lockOf(t, others[0], Lease(time.Hour))
	mustUnlock(t, taken)
	if err := <-ended; !errors.Is(err, ErrLeaseLost) {
		t.Error(err)
	}
	m.held(t, true, false, false)
	if ttl, err := others[0].RemainTTL(t.Context()); err != nil || ttl < 59*time.Minute {
		t.Errorf("%v, %v", ttl, err)
	}
	mustUnlock(t, thief)
}

func TestMultiLockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	taken := lockOf(t, others[2])
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := m.Lock(ctx)
		ended <- err
	}()
	awaitQueued(t, m.members[2], 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m.held(t, false, false, true)
	mustUnlock(t, taken)
}

// A round that fails releases what it has. A silent server keeps its caller for no longer than if its context were over.
func TestMultiLockIsNotKeptByTheReleaseOfAMember(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	var released error
	c := open(t, m.servers[0], WithCommandTimeout(2*time.Second), WithObserver(Observer{
		Acquired: func(context.Context, Subject, AcquireEvent) { m.servers[0].Pause() },
		Released: func(_ context.Context, _ Subject, e ReleaseEvent) { released = e.Err },
	}))
	taken := lockOf(t, others[1])
	first := c.NewLock("account")
	if _, err := NewMultiLock(first, m.members[1]).TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if !errors.Is(released, ErrUncertain) || !strings.Contains(released.Error(), "after the context ended; it goes on in the background") {
		t.Error(released)
	}
	m.servers[0].Resume()
	mustUnlock(t, taken)
	becomes(t, "it is released", func() bool { return !first.l.Snapshot().Known })
	m.held(t, false, false, false)
}

// Members are acquired in a fixed order, whatever order they are given in. Holds returns them in the given order.
func TestMembersAreAcquiredInOneOrder(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var mu sync.Mutex
	var acquired []string
	c := open(t, s, WithObserver(Observer{Acquired: func(_ context.Context, s Subject, _ AcquireEvent) {
		mu.Lock()
		defer mu.Unlock()
		acquired = append(acquired, s.Name)
	}}))
	for _, given := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}} {
		acquired = nil
		var locks []*Lock
		for _, name := range given {
			locks = append(locks, c.NewLock(name))
		}
		h, err := NewMultiLock(locks...).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(acquired, []string{"a", "b", "c"}) {
			t.Errorf("given %v, acquired %v", given, acquired)
		}
		for i, one := range h.Holds() {
			if one.Name() != given[i] {
				t.Errorf("hold %d of %v is of %s", i, given, one.Name())
			}
		}
		multiUnlocked(t, h)
	}
}

// Two clients that list the same locks in opposite orders do not block each other for rounds: one waits for the first lock
// that the other has, and holds nothing. With this many locks a round would take a minute.
func TestMultiLocksInOppositeOrdersWaitForOne(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, d := open(t, s), open(t, s)
	var cs, ds []*Lock
	for i := range 40 {
		name := fmt.Sprint("seat-", 10+i)
		cs, ds = append(cs, c.NewLock(name)), append(ds, d.NewLock(name))
	}
	slices.Reverse(ds)
	first, second := cs[0], cs[1]
	taken := lockOf(t, open(t, s).NewLock(second.Name()))
	ended := make(chan error, 2)
	enter := func(locks []*Lock) {
		ended <- NewMultiLock(locks...).Do(t.Context(), func(ctx context.Context) error { return ctx.Err() })
	}
	go enter(cs)
	awaitQueued(t, second, 1)
	go enter(ds)
	awaitQueued(t, d.NewLock(first.Name()), 1)
	mustUnlock(t, taken)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// The wait ends in the pause between two rounds. Another one would ask the server, which is silent by then, once more.
func TestMultiLockAsksNobodyAfterItsWait(t *testing.T) {
	if testing.Short() {
		t.Skip("rounds take seconds")
	}
	t.Parallel()
	s := redistest.Start(t)
	c, other := open(t, s, WithCommandTimeout(time.Minute)), open(t, s)
	const calls = 8 // the pause is random
	ended := make(chan error, calls)
	for i := range calls {
		l := c.NewLock(fmt.Sprint("orders", i))
		lockOf(t, other.NewLock(l.Name()))
		go func() {
			_, err := NewMultiLock(l).TryLockFor(t.Context(), roundFor+5*time.Millisecond)
			ended <- err
		}()
		awaitQueued(t, l, 1)
	}
	s.Pause()
	defer s.Resume()
	for range calls {
		select {
		case err := <-ended:
			if !errors.Is(err, ErrLocked) && !errors.Is(err, ErrUncertain) { // a look may have been under way
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for the server")
		}
	}
}

// A wait that is over before the first member was asked says nothing of that member.
func TestMultiLockAsksItsFirstMemberHoweverShortTheWait(t *testing.T) {
	t.Parallel()
	m := NewMultiLock(open(t, redistest.Start(t)).NewLock("orders"))
	terms, err := m.terms(t.Context(), time.Nanosecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.round(t.Context(), time.Nanosecond, terms)
	if err != nil {
		t.Fatalf("the lock is free: %v", err)
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
