package rlock

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
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
		unlock(t, taken)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		m.held(t, false, false, false)
	}
}

// Two that have what the other one wants get it in turns, once a round is over.
func TestMultiLocksInOppositeOrdersEndTheirRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("rounds take seconds")
	}
	t.Parallel()
	m, _ := newTrio(t)
	opposite := slices.Clone(m.members)
	slices.Reverse(opposite)
	ended := make(chan error, 2)
	first := lockOf(t, m.members[1])
	for i, both := range []*MultiLock{m.MultiLock, NewMultiLock(opposite...)} {
		go func() { ended <- both.Do(t.Context(), func(ctx context.Context) error { return ctx.Err() }) }()
		awaitQueued(t, m.members[1], i+1) // with its own first member
	}
	unlock(t, first)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	m.held(t, false, false, false)
}

// A round lasts for 1.5 s for each member, and then gives back what it kept.
func TestMultiLockKeepsWhatItHasForItsRound(t *testing.T) {
	if testing.Short() {
		t.Skip("a round takes seconds")
	}
	t.Parallel()
	m, others := newTrio(t)
	taken := lockOf(t, others[1])
	began, ended := time.Now(), make(chan error, 1)
	go func() {
		ended <- NewMultiLock(m.members[:2]...).Do(t.Context(), func(ctx context.Context) error { return ctx.Err() })
	}()
	awaitQueued(t, m.members[1], 1)
	first := m.members[0]
	for kept := true; kept; time.Sleep(time.Millisecond) {
		var err error
		if kept, err = first.IsLocked(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if lasted := time.Since(began); lasted < 2900*time.Millisecond || lasted > time.Minute {
		t.Errorf("two locks have a round of %v", lasted)
	}
	unlock(t, taken)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A round that is over before the server has answered says nothing of who holds, so the next one follows.
func TestMultiLockOutlastsARoundWithoutAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("a round takes seconds")
	}
	t.Parallel()
	m, _ := newTrio(t, WithCommandTimeout(time.Minute))
	paused := 5 * time.Second // a round is 4.5 s
	if _, err := m.keys[0].Do("CLIENT", "PAUSE", paused.Milliseconds(), "WRITE"); err != nil {
		t.Fatal(err)
	}
	if err := m.Do(t.Context(), func(ctx context.Context) error { return ctx.Err() }); err != nil {
		t.Error(err)
	}
	m.held(t, false, false, false)
}

// All members have the lease from the last grant on, whatever the first waited with.
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
	unlock(t, taken)
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

// Redisson sets the lease of whoever holds by then.
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
	unlock(t, taken)
	if err := <-ended; !errors.Is(err, ErrLeaseLost) {
		t.Error(err)
	}
	m.held(t, true, false, false)
	if ttl, err := others[0].RemainTTL(t.Context()); err != nil || ttl < 59*time.Minute {
		t.Errorf("%v, %v", ttl, err)
	}
	unlock(t, thief)
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
	unlock(t, taken)
}
