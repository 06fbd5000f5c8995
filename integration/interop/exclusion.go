package interop

import (
	"errors"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

const (
	// shortWait is of a timed try that is to fail.
	shortWait = time.Second
	// javaRounding is what Java loses of a wait, since it subtracts instants in whole milliseconds.
	javaRounding = 5 * time.Millisecond
)

func javaHolderKeepsGoOut(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	owner := s.ok(java.Owner(ctx)).Text()
	s.ok(java.Lock(ctx, s.name, javapeer.Watchdog))
	s.serverHas(map[string]string{owner: "1"})
	s.ttlIn(20*time.Second, 30*time.Second)

	if _, err := s.lock.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		s.Fatalf("TryLock: %v", err)
	}
	began := machineclock.Now()
	if _, err := s.lock.TryLockFor(ctx, shortWait); !errors.Is(err, rlock.ErrLocked) {
		s.Fatalf("TryLockFor: %v", err)
	}
	if took := time.Duration(machineclock.Now() - began); took < shortWait {
		s.Fatalf("TryLockFor gave up after %v", took)
	}
	s.ok(java.TryLock(ctx, s.name))
	s.serverHas(map[string]string{owner: "2"})

	// A partial release lets nobody in, the last one does.
	waiter := goWaits(s, 1, func() (*rlock.Hold, error) { return s.lock.TryLockFor(ctx, patience) })
	s.ok(java.Unlock(ctx, s.name))
	s.serverHas(map[string]string{owner: "1"})
	stillWaits(s, waiter)
	s.ok(java.Unlock(ctx, s.name))
	hold := await(s, waiter)
	s.serverHas(map[string]string{hold.Owner().String(): "1"})
	s.must(hold.Unlock(ctx))
	s.serverHas(nil)
}

func goHolderKeepsJavaOut(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	hold := s.got(s.lock.Lock(ctx))
	owner := hold.Owner().String()
	s.serverHas(map[string]string{owner: "1"})
	s.ttlIn(20*time.Second, 30*time.Second)

	if s.ok(java.TryLock(ctx, s.name)).Bool() {
		s.Fatal("tryLock entered")
	}
	for _, lease := range []time.Duration{javapeer.Watchdog, time.Minute} {
		began := machineclock.Now()
		r := s.ok(java.TryLockFor(ctx, s.name, shortWait, lease))
		if r.Bool() {
			s.Fatalf("tryLock with a wait and the lease %v entered", lease)
		}
		if took := time.Duration(r.At - began); took < shortWait-javaRounding {
			s.Fatalf("tryLock with a wait gave up after %v", took)
		}
	}
	again := s.got(s.lock.TryLock(ctx, rlock.As(hold.Owner())))
	s.serverHas(map[string]string{owner: "2"})

	waiter := background(func() (javapeer.Reply, error) {
		return java.TryLockFor(ctx, s.name, patience, javapeer.Watchdog)
	})
	s.javaParked(java)
	s.must(again.Unlock(ctx))
	s.serverHas(map[string]string{owner: "1"})
	stillWaits(s, waiter)
	s.must(hold.Unlock(ctx))
	if !await(s, waiter).Bool() {
		s.Fatal("tryLock with a wait ended without the lock")
	}
	s.serverHas(map[string]string{s.ok(java.Owner(ctx)).Text(): "1"})
	s.ok(java.Unlock(ctx, s.name))
	s.serverHas(nil)
}

const (
	shortLease = 3 * time.Second
	// early is what the clocks of server and test may differ by within a lease, late what a loaded machine may need.
	early = 50 * time.Millisecond
	late  = 3 * time.Second
)

// inTime checks that somebody entered when a lease was over, by itself, that had left to run at the instant from.
func (s *scene) inTime(from int64, left time.Duration, entered int64) {
	s.Helper()
	took := time.Duration(entered - from)
	s.Logf("entered %v after the lease's end", took-left)
	if took < left-early || took > left+late {
		s.Fatalf("a lease that ended after %v let the next in after %v", left, took)
	}
}

func javaLeaseEndsAndGoEnters(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	s.ok(java.Lock(ctx, s.name, shortLease))
	s.ttlIn(0, shortLease)
	from, left := machineclock.Now(), s.ttl()
	hold := s.got(s.lock.Lock(ctx, rlock.Lease(time.Minute)))
	s.inTime(from, left, machineclock.Now())
	s.ttlIn(50*time.Second, time.Minute)
	s.serverHas(map[string]string{hold.Owner().String(): "1"})

	_, err := java.Unlock(ctx, s.name)
	s.wantNotHeldInJava(err)
	s.must(hold.Unlock(ctx))
	s.serverHas(nil)
}

func goLeaseEndsAndJavaEnters(s *scene) {
	s.skipSleepers()
	ctx, java := s.Context(), s.thread("t1")
	hold := s.got(s.lock.TryLock(ctx, rlock.Lease(shortLease)))
	s.ttlIn(0, shortLease)
	from, left := machineclock.Now(), s.ttl()
	r := s.ok(java.TryLockFor(ctx, s.name, patience, time.Minute))
	if !r.Bool() {
		s.Fatal("not entered")
	}
	s.inTime(from, left, r.At)
	s.ttlIn(50*time.Second, time.Minute)

	if err := hold.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
		s.Fatalf("the hold whose lease has ended says %v", err)
	}
	wantLost(s, hold.Unlock(ctx))
	s.serverHas(map[string]string{s.ok(java.Owner(ctx)).Text(): "1"})
	s.ok(java.Unlock(ctx, s.name))
	s.serverHas(nil)
}

// wantNotHeldInJava wants Java's answer to an unlock by somebody else than the owner.
func (s *scene) wantNotHeldInJava(err error) {
	s.Helper()
	e, ok := errors.AsType[*javapeer.JavaError](err)
	if !ok || e.Class != "java.lang.IllegalMonitorStateException" {
		s.Fatalf("Java's unlock: %v, want an IllegalMonitorStateException", err)
	}
}

// wantLost wants Go's answer to the unlock of a hold that was lost.
func wantLost(s *scene, err error) {
	s.Helper()
	if !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
		s.Fatalf("Unlock: %v, want ErrLeaseLost and ErrNotHeld", err)
	}
}
