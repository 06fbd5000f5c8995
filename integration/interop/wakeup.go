package interop

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
)

const (
	wakeUps = 20
	// A waiter that missed the message would enter when the lease ends, after more than stale.
	stale = 15 * time.Second
	// Half of them must be quicker than a machine that stands still now and then.
	wakeUpP50  = 500 * time.Millisecond
	wakeUpMost = 3 * time.Second
)

// javaWaiterIsWokenByGoUnlock measures from the call of Go's Unlock to the return of Java's lock().
func javaWaiterIsWokenByGoUnlock(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	var delays Spread
	for range wakeUps {
		hold := s.got(s.lock.Lock(ctx))
		entered := s.javaWaits(java)
		s.ttlIn(stale, 30*time.Second)
		released := machineclock.Now()
		s.must(hold.Unlock(ctx))
		delays = append(delays, time.Duration(await(s, entered).At-released))
		s.ok(java.Unlock(ctx, s.name))
	}
	s.GoWakesJava = delays
	s.Logf("Redisson %s, Go unlock → Java waiter in: %v", s.version, delays)
	delays.check(s)
}

// goWaiterIsWokenByJavaUnlock measures from asking the JVM for the unlock, so that the pipe to it is counted too: the
// message is often there before unlock() returns in Java.
func goWaiterIsWokenByJavaUnlock(s *scene) {
	ctx, java := s.Context(), s.thread("t1")
	var delays, afterReturn Spread
	for range wakeUps {
		s.ok(java.Lock(ctx, s.name, javapeer.Watchdog))
		entered := goWaits(s, 1, s.lockWith(s.client))
		s.ttlIn(stale, 30*time.Second)
		asked := machineclock.Now()
		returned := s.ok(java.Unlock(ctx, s.name)).At
		e := await(s, entered)
		delays = append(delays, time.Duration(e.at-asked))
		afterReturn = append(afterReturn, time.Duration(e.at-returned))
		s.must(e.hold.Unlock(ctx))
	}
	s.JavaWakesGo = delays
	s.Logf("Redisson %s, Java unlock → Go waiter in: %v", s.version, delays)
	s.Logf("Redisson %s, Java unlock returned → Go waiter in: %v", s.version, afterReturn)
	delays.check(s)
}

// Spread is a number of delays, in the order of the rounds.
type Spread []time.Duration

// Percentile is by nearest rank; 0 if there is none.
func (d Spread) Percentile(p int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

// String has the median, the 99th percentile and the most.
func (d Spread) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, max %v (%d rounds)", d.Percentile(50), d.Percentile(99), slices.Max(d), len(d))
}

func (d Spread) check(s *scene) {
	s.Helper()
	if d.Percentile(50) >= wakeUpP50 || slices.Max(d) >= wakeUpMost {
		s.Errorf("%v; want p50 below %v and max below %v", d, wakeUpP50, wakeUpMost)
	}
	if slices.Min(d) <= 0 {
		s.Errorf("an effect before its cause: %v", slices.Min(d))
	}
}
