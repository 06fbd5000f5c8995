package interop

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
)

// killedLease is the watchdog timeout of those who are killed.
const killedLease = 3 * time.Second

func killedGoProcessIsFollowedByJava(s *scene) {
	s.skipSleepers()
	ctx, java := s.Context(), s.thread("t1")
	p := s.launch(order{Keep: true, Watchdog: killedLease})
	s.ttlIn(0, killedLease)
	entered := s.javaWaits(java)
	s.renewed()
	p.kill()
	from, left := machineclock.Now(), s.ttl()
	stillWaits(s, entered)
	s.inTime(from, left, await(s, entered).At)
	s.ok(java.Unlock(ctx, s.name))
	s.serverHas(nil)
}

// sleepers are the releases whose waiter at the head of a fair lock's queue waits for a message only, once it was refused when
// the lease that it knows of should be over: the holder has renewed, or the waiter's first command came late to the server.
var sleepers = []string{"3.27.2", "3.21.3", "3.16.8", javapeer.Oldest}

// skipSleepers leaves out what waits for the end of a lease.
func (s *scene) skipSleepers() {
	if s.kind == javapeer.Fair && slices.Contains(sleepers, s.version) {
		s.Skip("it sleeps beside the free lock: javafair.TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied")
	}
}

func killedJVMIsFollowedByGo(s *scene) {
	ctx := s.Context()
	doomed := javapeer.Start(s.T, s.version, s.server.URL(), javapeer.WatchdogTimeout(killedLease))
	s.ok(doomed.Thread("t1").Of(s.kind).Lock(ctx, s.name, javapeer.Watchdog))
	s.ttlIn(0, killedLease)
	entered := goWaits(s, 1, s.lockWith(s.client))
	s.renewed()
	doomed.Kill()
	from, left := machineclock.Now(), s.ttl()
	stillWaits(s, entered)
	e := await(s, entered)
	s.inTime(from, left, e.at)
	s.ttlIn(stale, 30*time.Second)
	s.must(e.hold.Unlock(ctx))
	s.serverHas(nil)
}

// renewed waits for the holder's watchdog, so that it is a lease the waiter was not told of that has to end.
func (s *scene) renewed() {
	s.Helper()
	last := s.ttl()
	s.eventually("a renewal", func() bool {
		ttl := s.ttl()
		grew := ttl > last
		last = ttl
		return grew
	})
}
