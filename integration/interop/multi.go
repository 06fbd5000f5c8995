package interop

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// MultiBehaviours are those of several locks that are acquired together.
var MultiBehaviours = []Behaviour{
	{"JavaHoldsAllOrNone", true, javaHoldsAllOrNone},
	{"GoHoldsAllOrNone", true, goHoldsAllOrNone},
	{"EachSideIsWokenByTheOther", true, eachSideIsWokenByTheOther},
	{"LeasesBeginAtLast", true, leasesBeginAtLast},
	{"JavaStopsAtALostMember", true, javaStopsAtALostMember},
}

// several are the locks of a scene that are acquired together: of a read-write lock, plain, plain.
type several struct {
	*scene
	members []*rlock.Lock
	all     *rlock.MultiLock
	java    *javapeer.Thread // has the same, of that name
	names   string
}

func (s *scene) several() several {
	first, second, third := s.name+"/1", s.name+"/2", s.name+"/3"
	m := several{scene: s, names: strings.Join([]string{"write=" + first, second, third}, ",")}
	m.members = []*rlock.Lock{s.client.NewReadWriteLock(first).WriteLock(), s.client.NewLock(second), s.client.NewLock(third)}
	m.all, m.java = rlock.NewMultiLock(m.members...), s.java.Thread("t1").Of(javapeer.Multi)
	return m
}

// locked fails unless these members are, and no others.
func (m several) locked(want ...bool) {
	m.Helper()
	for i, l := range m.members {
		if locked, err := l.IsLocked(m.Context()); err != nil || locked != want[i] {
			m.Fatalf("member %d is locked: %t, %v; want %t", i, locked, err, want[i])
		}
	}
}

// goTakes acquires all members.
func (m several) goTakes(opts ...rlock.AcquireOption) *rlock.MultiHold {
	m.Helper()
	h, err := m.all.Lock(m.Context(), opts...)
	m.must(err)
	return h
}

func javaHoldsAllOrNone(s *scene) {
	m, ctx := s.several(), s.Context()
	s.ok(m.java.Lock(ctx, m.names, javapeer.Watchdog))
	m.locked(true, true, true)
	if _, err := m.all.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		s.Errorf("Go entered beside Java: %v", err)
	}
	s.ok(m.java.Unlock(ctx, m.names))
	m.locked(false, false, false)
	for i, l := range m.members {
		hold, want := s.got(l.Lock(ctx)), make([]bool, len(m.members))
		if s.ok(m.java.TryLock(ctx, m.names)).Bool() {
			s.Errorf("Java entered beside Go's member %d", i)
		}
		want[i] = true
		m.locked(want...)
		s.must(hold.Unlock(ctx))
	}
}

func goHoldsAllOrNone(s *scene) {
	m, ctx := s.several(), s.Context()
	hold := m.goTakes()
	if s.ok(m.java.TryLock(ctx, m.names)).Bool() {
		s.Error("Java entered beside Go")
	}
	s.must(hold.Unlock(ctx))
	m.locked(false, false, false)
	for i, kind := range []javapeer.Kind{javapeer.Write, javapeer.Plain, javapeer.Plain} {
		one, want := s.World.java.Thread("t2").Of(kind), make([]bool, len(m.members))
		s.ok(one.Lock(ctx, m.members[i].Name(), javapeer.Watchdog))
		if _, err := m.all.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
			s.Errorf("Go entered beside Java's member %d: %v", i, err)
		}
		want[i] = true
		m.locked(want...)
		s.ok(one.Unlock(ctx, m.members[i].Name()))
	}
}

// eachSideIsWokenByTheOther has each wait for what the other holds.
func eachSideIsWokenByTheOther(s *scene) {
	const round = 4500 * time.Millisecond // after which either side begins anew, message or no message
	m, ctx := s.several(), s.Context()
	s.name, s.kind = m.members[0].Name(), javapeer.Write // what is waited for, and counted who listens to
	var toJava, toGo Spread
	for range 15 {
		hold := m.goTakes()
		entered := background(func() (javapeer.Reply, error) { return m.java.Lock(ctx, m.names, javapeer.Watchdog) })
		s.eventually("Java listens", func() bool { return s.subscribers() > 0 })
		s.must(m.java.AwaitParked(ctx))
		began := time.Now()
		s.must(hold.Unlock(ctx))
		await(s, entered)
		toJava = append(toJava, time.Since(began))
		goEntered := background(func() (*rlock.MultiHold, error) { return m.all.Lock(ctx) })
		s.eventually("Go listens", func() bool { return s.subscribers() > 0 })
		began = time.Now()
		s.ok(m.java.Unlock(ctx, m.names))
		hold = await(s, goEntered)
		toGo = append(toGo, time.Since(began))
		s.must(hold.Unlock(ctx))
	}
	s.Logf("Redisson %s, Go unlock → Java in: %v; Java unlock → Go in: %v", s.version, toJava, toGo)
	if slices.Max(toJava) >= round || slices.Max(toGo) >= round {
		s.Error("somebody came with the next round only")
	}
	m.locked(false, false, false)
}

// leasesBeginAtLast has both sides wait for the last member, with a lease. Redisson takes up to all of it for a round.
func leasesBeginAtLast(s *scene) {
	const lease = 10 * time.Second
	m, ctx := s.several(), s.Context()
	ends := func() {
		s.Helper()
		for _, l := range m.members {
			if ttl, err := l.RemainTTL(ctx); err != nil || ttl > lease || ttl < lease/2 {
				s.Errorf("%s has %v, %v", l.Name(), ttl, err)
			}
		}
	}
	s.must(m.goTakes().Unlock(ctx)) // scripts are there
	hold := m.goTakes(rlock.Lease(lease))
	ends()
	s.must(hold.Unlock(ctx))
	s.ok(m.java.Lock(ctx, m.names, lease))
	ends()
	s.ok(m.java.Unlock(ctx, m.names))
}

// releasesAll are the releases of Redisson whose unlock releases all members, and tells of a lost one then.
var releasesAll = []string{"3.11.6", "3.16.8", "3.21.3"}

// javaStopsAtALostMember shows what Go does not do: the members behind one that was lost stay locked, and are renewed.
func javaStopsAtALostMember(s *scene) {
	m, ctx := s.several(), s.Context()
	lose := func() {
		s.Helper()
		_, err := s.redis.Do("DEL", m.members[1].Name())
		s.must(err)
	}
	s.ok(m.java.Lock(ctx, m.names, javapeer.Watchdog))
	lose()
	if _, err := m.java.Unlock(ctx, m.names); err == nil || !strings.Contains(err.Error(), "IllegalMonitorStateException") {
		s.Errorf("Java's unlock: %v", err)
	}
	together := slices.Contains(releasesAll, s.version)
	m.locked(false, false, !together)
	if !together {
		_, err := m.members[2].ForceUnlock(ctx)
		s.must(err)
	}

	hold := m.goTakes()
	lose()
	if err := hold.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		s.Error(err)
	}
	m.locked(false, false, false)
}
