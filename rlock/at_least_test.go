package rlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The owner's last release leaves the lock taken, whichever of the owner's holds asked for AtLeast.
func TestAtLeastOfOneHoldIsTheOwners(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	for _, outer := range []bool{true, false} {
		for _, outerFirst := range []bool{true, false} {
			l := c.NewLock("nested")
			h := lockOf(t, l, map[bool][]AcquireOption{true: {AtLeast(time.Minute)}}[outer]...)
			again := lockOf(t, l, append([]AcquireOption{As(h.Owner())}, map[bool][]AcquireOption{false: {AtLeast(time.Minute)}}[outer]...)...)
			if outerFirst {
				h, again = again, h
			}
			if err := again.Unlock(t.Context()); err != nil || h.Err() != nil {
				t.Fatal(err, h.Err())
			}
			if err := h.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left, err := l.RemainTTL(t.Context()); err != nil || left < 50*time.Second || left > time.Minute {
				t.Errorf("outer %v, first %v: it lives for %v, %v", outer, outerFirst, left, err)
			}
			if forced, err := l.ForceUnlock(t.Context()); !forced || err != nil {
				t.Errorf("forced: %v, %v", forced, err)
			}
			if err := lockOf(t, l).Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// A grant that nobody takes is given back at once.
func TestAtLeastIsNotForAGrantThatIsGivenBack(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := open(t, s).NewLock("given back")
	for i := range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Microsecond)
		h, err := l.Lock(ctx, AtLeast(time.Hour))
		cancel()
		if err == nil {
			_ = h.Unlock(t.Context())
			_, _ = l.ForceUnlock(t.Context())
		}
	}
	becomes(t, "it is free", func() bool { locked, err := l.IsLocked(t.Context()); return !locked && err == nil })
}

func TestAtLeastThatCannotBe(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l, rw := c.NewLock("orders"), c.NewReadWriteLock("doc")
	for what, try := range map[string]func() error{
		"no time":       func() error { _, err := l.TryLock(t.Context(), AtLeast(0)); return err },
		"twice":         func() error { _, err := l.TryLock(t.Context(), AtLeast(1e9), AtLeast(1e9)); return err },
		"above Lease":   func() error { _, err := l.TryLock(t.Context(), AtLeast(2e9), Lease(1e9)); return err },
		"above MaxHold": func() error { return l.Do(t.Context(), nil, MaxHold(1e9), AtLeast(2e9)) },
		"a read lock":   func() error { _, err := rw.ReadLock().TryLock(t.Context(), AtLeast(1e9)); return err },
		"a write lock":  func() error { _, err := rw.WriteLock().TryLock(t.Context(), AtLeast(1e9)); return err },
	} {
		if err := try(); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n, err := s.Dial(t).Do("DBSIZE"); n != int64(0) || err != nil {
		t.Errorf("%v keys, %v", n, err)
	}
	if err := lockOf(t, l, AtLeast(1e6), Lease(1e9)).Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// A round that fails leaves no member taken. Once all are held, an early Unlock leaves each taken for the rest of the time.
func TestAtLeastOfAMultiLockIsForAllMembersOrNone(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	both := NewMultiLock(m.members[:2]...)
	taken := lockOf(t, others[1])
	if _, err := both.TryLock(t.Context(), AtLeast(time.Hour)); !errors.Is(err, ErrLocked) {
		t.Fatal(err)
	}
	m.held(t, false, true, false)
	mustUnlock(t, taken)
	h, err := both.TryLock(t.Context(), AtLeast(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	multiUnlocked(t, h)
	for _, l := range m.members[:2] {
		if left, err := l.RemainTTL(t.Context()); err != nil || left < 50*time.Minute || left > time.Hour {
			t.Errorf("%s lives for %v, %v", l.Name(), left, err)
		}
	}
}
