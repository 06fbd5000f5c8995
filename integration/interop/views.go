package interop

import (
	"errors"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// javaSees checks all that Java's API tells a thread about the lock.
func (s *scene) javaSees(thread *javapeer.Thread, locked bool, count int64) {
	s.Helper()
	ctx := s.Context()
	id := s.ok(thread.ID(ctx)).Int()
	if got := s.ok(thread.IsLocked(ctx, s.name)).Bool(); got != locked {
		s.Errorf("Java: isLocked %v", got)
	}
	if got := s.ok(thread.IsHeld(ctx, s.name)).Bool(); got != (count > 0) {
		s.Errorf("Java: isHeldByCurrentThread %v", got)
	}
	if got := s.ok(thread.IsHeldBy(ctx, s.name, id)).Bool(); got != (count > 0) {
		s.Errorf("Java: isHeldByThread %v", got)
	}
	if got := s.ok(thread.HoldCount(ctx, s.name)).Int(); got != count {
		s.Errorf("Java: getHoldCount %d, want %d", got, count)
	}
	ms := s.ok(thread.RemainTTL(ctx, s.name)).Int()
	if locked && (ms <= stale.Milliseconds() || ms > 30_000) || !locked && ms != -2 {
		s.Errorf("Java: remainTimeToLive %d, locked %v", ms, locked)
	}
}

// goSees checks all that Go's API tells about an owner and the lock.
func (s *scene) goSees(owner rlock.Owner, locked bool, count int) {
	s.Helper()
	ctx := s.Context()
	if got, err := s.lock.IsLocked(ctx); got != locked || err != nil {
		s.Errorf("Go: IsLocked %v, %v", got, err)
	}
	if got, err := s.lock.IsHeldBy(ctx, owner); got != (count > 0) || err != nil {
		s.Errorf("Go: IsHeldBy %v, %v", got, err)
	}
	if got, err := s.lock.HoldCount(ctx, owner); got != count || err != nil {
		s.Errorf("Go: HoldCount %d, %v, want %d", got, err, count)
	}
	ttl, err := s.lock.RemainTTL(ctx)
	if locked && (err != nil || ttl <= stale || ttl > 30*time.Second) || !locked && !errors.Is(err, rlock.ErrNotLocked) {
		s.Errorf("Go: RemainTTL %v, %v, locked %v", ttl, err, locked)
	}
}

// owner is the thread's, as Go reads it.
func (s *scene) owner(thread *javapeer.Thread) rlock.Owner {
	s.Helper()
	owner, err := rlock.ParseOwner(s.ok(thread.Owner(s.Context())).Text())
	s.must(err)
	return owner
}

func javaSeesGoHolds(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	s.javaSees(java, false, 0)
	hold := s.got(s.lock.Lock(ctx))
	s.javaSees(java, true, 0)
	again := s.got(s.lock.Lock(ctx, rlock.As(hold.Owner())))
	s.serverHas(map[string]string{hold.Owner().String(): "2"})
	s.javaSees(java, true, 0)
	_, err := java.Unlock(ctx, s.name)
	s.wantNotHeldInJava(err)
	s.must(again.Unlock(ctx))
	s.javaSees(java, true, 0)
	s.must(hold.Unlock(ctx))
	s.javaSees(java, false, 0)
}

func goSeesJavaHolds(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	owner, other := s.owner(java), s.owner(s.thread("t2"))
	s.goSees(owner, false, 0)
	for count := 1; count <= 2; count++ {
		s.ok(java.Lock(ctx, s.name, javapeer.Watchdog))
		s.goSees(owner, true, count)
		s.goSees(other, true, 0)
		s.javaSees(java, true, int64(count))
	}
	// Without a hold of it, Go must not be able to release it by mistake.
	if err := s.lock.UnlockAs(ctx, s.client.NewOwner()); !errors.Is(err, rlock.ErrNotHeld) {
		s.Errorf("UnlockAs of a stranger: %v", err)
	}
	for count := 1; count >= 0; count-- {
		s.ok(java.Unlock(ctx, s.name))
		s.goSees(owner, count > 0, count)
	}
}

func goReentersJavaHold(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	owner := s.owner(java)
	counts := func(n string) { s.Helper(); s.serverHas(map[string]string{owner.String(): n}) }
	s.ok(java.Lock(ctx, s.name, javapeer.Watchdog))

	// Re-entered and released by the same Hold.
	hold := s.got(s.lock.TryLock(ctx, rlock.As(owner)))
	counts("2")
	s.javaSees(java, true, 2)
	s.goSees(owner, true, 2)
	if err := s.lock.UnlockAs(ctx, owner); !errors.Is(err, rlock.ErrInvalidOption) {
		s.Errorf("UnlockAs beside a Hold of that owner: %v", err)
	}
	s.must(hold.Unlock(ctx))
	counts("1")
	s.javaSees(java, true, 1)

	// Re-entered by one client, released by another that knows no more than the owner's name.
	hold = s.got(s.lock.Lock(ctx, rlock.As(owner)))
	counts("2")
	s.must(s.lockOf(s.open(s.T)).UnlockAs(ctx, owner))
	counts("1")
	s.ttlIn(stale, 30*time.Second)
	if s.ok(s.thread("t2").TryLock(ctx, s.name)).Bool() {
		s.Fatal("entered beside a hold that was left")
	}
	s.ok(java.Unlock(ctx, s.name))
	s.serverHas(nil)
	if err := hold.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		s.Errorf("Unlock of a hold that others released: %v", err)
	}

	// The last release, too, may be Go's; it wakes those who wait in Java.
	s.ok(java.Lock(ctx, s.name, javapeer.Watchdog))
	waiter := s.thread("t2")
	entered := s.javaWaits(waiter)
	s.must(s.lock.UnlockAs(ctx, owner))
	await(s, entered)
	_, err := java.Unlock(ctx, s.name)
	s.wantNotHeldInJava(err)
	s.ok(waiter.Unlock(ctx, s.name))
	s.serverHas(nil)
}

func javaReleasesWhatGoTookInItsName(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	owner := s.owner(java)
	hold := s.got(s.lock.Lock(ctx, rlock.As(owner)))
	s.javaSees(java, true, 1)
	s.ok(java.Lock(ctx, s.name, javapeer.Watchdog))
	s.javaSees(java, true, 2)
	s.ok(java.Unlock(ctx, s.name))
	s.ok(java.Unlock(ctx, s.name))
	s.javaSees(java, false, 0)
	if err := hold.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		s.Errorf("Unlock of a hold that Java released: %v", err)
	}
}
