package interop

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestMultiInteropBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full only")
	}
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		t.Run(version, func(t *testing.T) {
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			w := NewWorld(t, version, redisserver.Given(t, set.URL()))
			for _, b := range MultiBehaviours {
				t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
			}
			w.CheckNothingIsLeft(t)
			t.Run("AMemberIsLostInAFailover", func(t *testing.T) { memberLostInAFailover(w.scene(t), set) })
		})
	}
}

// memberLostInAFailover has the next master lack one member of what a side holds, as asynchronous replication does by chance.
func memberLostInAFailover(s *scene, set *redistest.SentinelSet) {
	m, ctx := s.several(), s.Context()
	lost := m.members[1].Name()
	failover := func() {
		s.Helper()
		former := set.Master()
		for _, n := range set.Nodes {
			if n == former {
				continue
			}
			conn := n.Dial(s.T)
			for _, l := range m.members {
				s.eventually("on each replica", func() bool {
					there, err := conn.Do("EXISTS", l.Name())
					return err == nil && there == int64(1)
				})
			}
			for _, command := range [][]any{{"CONFIG", "SET", "replica-read-only", "no"}, {"DEL", lost}, {"CONFIG", "SET", "replica-read-only", "yes"}} {
				_, err := conn.Do(command[0].(string), command[1:]...)
				s.must(err)
			}
		}
		set.Failover(set.Sentinels[0])
		set.AwaitMaster(former)
		set.AwaitSettled()
	}
	free := func(who string) {
		s.Helper()
		for _, l := range m.members {
			s.eventually(l.Name()+" is free behind "+who, func() bool {
				locked, err := l.IsLocked(ctx)
				return err == nil && !locked
			})
		}
	}

	hold := m.goTakes()
	failover()
	select {
	case <-hold.Done():
	case <-time.After(patience):
		s.Fatal("a lost member does not end the hold")
	}
	if err := hold.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
		s.Error(err)
	}
	m.locked(true, false, true) // the others wait for Unlock
	if s.ok(m.java.TryLock(ctx, m.names)).Bool() {
		s.Error("Java entered beside what is left of Go's hold")
	}
	if err := hold.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		s.Errorf("Go's unlock: %v", err)
	}
	free("Go")

	s.ok(m.java.Lock(ctx, m.names, javapeer.Watchdog))
	failover()
	if _, err := m.all.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		s.Errorf("Go entered beside what is left of Java's hold: %v", err)
	}
	m.locked(true, false, true)
	if _, err := m.java.Unlock(ctx, m.names); err == nil || !strings.Contains(err.Error(), "IllegalMonitorStateException") {
		s.Errorf("Java's unlock: %v", err)
	}
	if !slices.Contains(releasesAll, s.version) {
		s.ok(m.java.Of(javapeer.Plain).Unlock(ctx, m.members[2].Name()))
	}
	free("Java")
	s.must(m.goTakes().Unlock(ctx))
}
