package rlock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// counts checks the server's hold count of the owner.
func counts(t *testing.T, l *Lock, o Owner, want int) {
	t.Helper()
	if n, err := l.HoldCount(context.Background(), o); n != want || err != nil {
		t.Errorf("the server counts %d holds, %v; want %d", n, err, want)
	}
}

// breakOff loses the command that begin makes the client send: the server holds it back, and then closes the connection.
func breakOff(t *testing.T, s *redistest.Server, begin func()) {
	t.Helper()
	conn := s.Dial(t)
	defer conn.Close()
	if _, err := conn.Do("CLIENT", "PAUSE", time.Hour.Milliseconds(), "WRITE"); err != nil {
		t.Fatal(err)
	}
	begin()
	s.AwaitBlocked(t)
	for _, args := range [][]any{{"KILL", "TYPE", "normal"}, {"UNPAUSE"}} {
		if _, err := conn.Do("CLIENT", args...); err != nil {
			t.Fatal(err)
		}
	}
}

// setForward returns by how much the clock of a client with the option is ahead.
func setForward() (by *atomic.Int64, option Option) {
	by = new(atomic.Int64)
	return by, func(o *settings) error {
		o.Clock = clock.Func(func() time.Duration { return clock.System().Now() + time.Duration(by.Load()) })
		return nil
	}
}

func TestA5WhatAnUndoGivesBackIsNoHoldOfAnEndedLease(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a lease ends")
	s := redistest.Start(t)
	c := open(t, s, WithCommandTimeout(10*time.Second))
	l := c.NewLock("orders")
	outer := lockOf(t, l)
	inner := lockOf(t, l, As(outer.Owner()), Lease(soon/2))
	<-inner.Done()
	// This acquire never runs. Its undo gives a nested hold back whose own lease has ended, and leaves the outer one.
	done := make(chan struct{})
	breakOff(t, s, func() {
		go func() {
			defer close(done)
			if h, err := l.Lock(context.Background(), As(outer.Owner())); err == nil {
				mustUnlock(t, h)
			}
		}()
		awaitCommandQueue(t, outer, 0)
	})
	<-done
	if err := inner.Unlock(t.Context()); !errors.Is(err, ErrLeaseLost) {
		t.Error(err)
	}
	if err := outer.Err(); err != nil {
		t.Error(err)
	}
	counts(t, l, outer.Owner(), 1)
}

// The unlock of a nested hold waits in its owner's command queue for longer than its caller, and is still sent.
func TestR1UnlockThatWaitedTooLongForItsTurnIsSent(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "an Unlock runs into its limit")
	s := redistest.Start(t)
	c := open(t, s, WithCommandTimeout(2*time.Second), WithWatchdogTimeout(time.Minute))
	l := c.NewLock("orders")
	outer := lockOf(t, l, Lease(time.Minute))
	inner := lockOf(t, l, As(outer.Owner()))
	s.Pause()
	extended := make(chan error, 1)
	go func() { extended <- outer.Extend(context.Background(), time.Minute) }()
	awaitCommandQueue(t, outer, 0)
	if err := inner.Unlock(context.Background()); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	s.Resume()
	<-extended // ErrUncertain, or nil if its reply came in time
	becomes(t, "one hold is left", func() bool { n, _ := l.HoldCount(t.Context(), outer.Owner()); return n == 1 })
	mustUnlock(t, outer)
	counts(t, l, outer.Owner(), 0)
}

func TestE2UnlockThatWasRepeatedLeavesNoTimer(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	h := lockOf(t, c.NewLock("orders"))
	released := make(chan error, 1)
	breakOff(t, s, func() {
		go func() { released <- h.Unlock(context.Background()) }()
		awaitCommandQueue(t, h, 0)
	})
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	becomes(t, "no timer is left", func() bool { timers, _ := c.s.UnderWay(); return timers == 0 })
}

// After a sleep of the machine the first call to run is of an owner that held the lock before.
func TestH3OwnerEntersAnewBeforeItsLossWasTold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	slept, clock := setForward()
	c := open(t, s, clock)
	l := c.NewLock("orders")
	o := c.NewOwner()
	before := lockOf(t, l, As(o))
	if _, err := s.Dial(t).Do("DEL", "orders"); err != nil { // its lease has ended
		t.Fatal(err)
	}
	slept.Store(int64(time.Hour))
	anew := lockOf(t, l, As(o))
	if anew == nil || anew.Err() != nil || !errors.Is(before.Err(), ErrLeaseLost) {
		t.Fatalf("before: %v; anew: %v", before.Err(), anew)
	}
	mustUnlock(t, anew)
}

// A nested hold outlives the outer one, and its lease ends by itself. Nobody has to unlock it.
func TestE2NothingIsLeftOfANestedLeaseThatEndedByItself(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a lease ends")
	later, clock := setForward()
	c := open(t, redistest.Start(t), clock)
	l := c.NewLock("orders")
	outer := lockOf(t, l)
	inner := lockOf(t, l, As(outer.Owner()), Lease(soon/2))
	later.Store(int64(150 * time.Millisecond)) // the client now trusts the key for longer than the nested lease
	mustUnlock(t, outer)
	<-inner.Done()
	becomes(t, "nothing is left of the name", func() bool { return !l.l.Snapshot().Known })
}

// An owner is its client's own until its string is given away, or another client acts as it. Other owners stay own.
func TestOwnerIsAloneUntilItIsGivenAway(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, other := open(t, s), open(t, s)
	give := map[string]func(o Owner){
		"its string":       func(o Owner) { _ = o.String() },
		"printed":          func(o Owner) { _ = fmt.Sprint(o) },
		"parsed":           func(o Owner) { _, _ = ParseOwner(o.o.String()) },
		"another client's": func(o Owner) { mustUnlock(t, lockOf(t, other.NewLock("orders"), As(o))) },
		"another's unlock": func(o Owner) { _ = other.NewLock("orders").UnlockAs(t.Context(), o) },
	}
	for what, give := range give {
		before, o, after := c.NewOwner(), c.NewOwner(), c.NewOwner()
		mustUnlock(t, lockOf(t, c.NewLock("orders"), As(o)))
		if _, err := c.NewLock("orders").HoldCount(t.Context(), o); err != nil {
			t.Error(err)
		}
		if !c.s.Exclusive(before.o) || !c.s.Exclusive(o.o) || other.s.Exclusive(o.o) {
			t.Errorf("%s: shared before", what)
		}
		// These texts are for people. To act as the owner a reader must parse one, or get the owner in another way.
		if _ = lockOf(t, c.NewLock(o.o.String()), As(o)).String(); !c.s.Exclusive(o.o) {
			t.Errorf("%s: shared by a hold's string", what)
		}
		if err := c.NewLock(o.o.String()).UnlockAs(t.Context(), o); err == nil || !strings.Contains(err.Error(), "owner "+o.o.String()) || !c.s.Exclusive(o.o) {
			t.Errorf("%s: shared by an error, or not named by it: %v", what, err)
		}
		give(o)
		if !c.s.Exclusive(before.o) || c.s.Exclusive(o.o) || !c.s.Exclusive(after.o) {
			t.Errorf("%s: %v, %v and %v are own, want all but the second", what, c.s.Exclusive(before.o), c.s.Exclusive(o.o), c.s.Exclusive(after.o))
		}
	}
}
