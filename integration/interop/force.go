package interop

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

func goForceUnlockEndsJavaHold(s *scene) {
	ctx, holder, waiter := s.Context(), s.thread("t1"), s.thread("t2")
	s.ok(holder.Lock(ctx, s.name, javapeer.Watchdog))
	goEntered := goWaits(s, 1, s.lockWith(s.client))
	entered := s.javaWaits(waiter)

	forced, err := s.lock.ForceUnlock(ctx)
	s.must(err)
	if !forced {
		s.Fatal("ForceUnlock found nothing")
	}
	if s.ok(holder.IsHeld(ctx, s.name)).Bool() || s.ok(holder.HoldCount(ctx, s.name)).Int() != 0 {
		s.Error("Java's forced holder still finds itself holding")
	}
	_, err = holder.Unlock(ctx, s.name)
	s.wantNotHeldInJava(err)

	// Whichever of the two was first, its unlock lets in the other.
	select {
	case o := <-goEntered:
		s.must(o.err)
		s.must(o.value.hold.Unlock(ctx))
		await(s, entered)
		s.ok(waiter.Unlock(ctx, s.name))
	case o := <-entered:
		s.must(o.err)
		s.ok(waiter.Unlock(ctx, s.name))
		s.must(await(s, goEntered).hold.Unlock(ctx))
	case <-time.After(patience):
		s.Fatal("a forced lock let nobody in")
	}
	s.serverHas(nil)
	if forced, err := s.lock.ForceUnlock(ctx); forced || err != nil {
		s.Errorf("ForceUnlock of a free lock: %v, %v", forced, err)
	}
}

func javaForceUnlockEndsGoHold(s *scene) {
	const watchdog = 9 * time.Second
	ctx, java := s.Context(), s.thread("t1")
	holder := s.open(s.T, rlock.WithWatchdogTimeout(watchdog))
	hold := s.got(s.lockOf(holder).Lock(ctx))
	inside, cancel := hold.Context(ctx)
	defer cancel()
	// One waiter in the holder's own client, one in another.
	waits := []<-chan outcome[entry]{goWaits(s, 1, s.lockWith(holder)), goWaits(s, 2, s.lockWith(s.client))}

	// Without the message, the waiters would enter when this has ended.
	s.ttlIn(wakeUpMost, watchdog)
	forced := machineclock.Now()
	if !s.ok(java.ForceUnlock(ctx, s.name)).Bool() {
		s.Fatal("forceUnlock found nothing")
	}
	for range waits {
		var e entry
		select {
		case o := <-waits[0]:
			s.must(o.err)
			e = o.value
		case o := <-waits[1]:
			s.must(o.err)
			e = o.value
		case <-time.After(patience):
			s.Fatal("a forced lock did not let all waiters in")
		}
		if took := time.Duration(e.at - forced); took > wakeUpMost {
			s.Errorf("entered %v after the force", took)
		}
		s.serverHas(map[string]string{e.hold.Owner().String(): "1"})
		s.must(e.hold.Unlock(ctx))
	}
	s.serverHas(nil)

	// The next renewal tells; it is due within a third of the timeout.
	select {
	case <-hold.Done():
	case <-time.After(patience):
		s.Fatal("the forced hold was never told")
	}
	took := time.Duration(machineclock.Now() - forced)
	s.Logf("told %v after it was forced", took)
	// Later, the end of trust would have told it.
	if took > watchdog/3+2*time.Second {
		s.Errorf("told only %v after it was forced", took)
	}
	if err := hold.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
		s.Errorf("the forced hold says %v", err)
	}
	select {
	case <-inside.Done():
	case <-time.After(patience):
		s.Fatal("the forced hold's context goes on")
	}
	if cause := context.Cause(inside); !errors.Is(cause, rlock.ErrLeaseLost) {
		s.Errorf("the context's cause is %v", cause)
	}
	wantLost(s, hold.Unlock(ctx))
}
