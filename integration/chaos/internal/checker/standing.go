package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// standing records for each member of a multi-lock when somebody waited and nobody was inside. An owner may keep one member
// while it waits for another. So a release need not let anybody in at once, but such a stretch must end within a round or
// two.
type standing struct {
	*Checker
	members map[int]*presence
}

type presence struct {
	edges  []edge // not counted yet
	counts [2]int // of those waiting or inside, and of those inside
	since  int64  // start of the time in which somebody waits and nobody is inside; 0: there is none
}

// edge is an instant at which a count changes by one.
type edge struct {
	at     int64
	inside int // an index of presence.counts
	more   int
}

// add records an acquisition. A killed process may have the lock until its lease ends.
func (s *standing) add(a *history.Acquisition) {
	from, to := a.Window()
	switch {
	case !s.model.Several:
		return
	case a.Died != 0:
		from, to = a.Called, max(to, a.Died+max(a.Lease, s.late.bounds.Lease.Nanoseconds()))
	case a.Mode == "TryLock" && !a.Held:
		return
	}
	p := s.members[a.Lock]
	if p == nil {
		p = &presence{}
		s.members[a.Lock] = p
	}
	for inside, span := range [][2]int64{{a.Called, max(a.Returned, to)}, {from, to}} {
		if span[0] < span[1] {
			p.edges = append(p.edges, edge{span[0], inside, 1}, edge{span[1], inside, -1})
		}
	}
}

// judge continues up to horizon, before which all acquisitions are known.
func (s *standing) judge(horizon int64) {
	for lock, p := range s.members {
		slices.SortFunc(p.edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		n := 0
		for ; n < len(p.edges) && p.edges[n].at < horizon; n++ {
			e := p.edges[n]
			p.counts[e.inside] += e.more
			switch free := p.counts[0] > 0 && p.counts[1] == 0; {
			case free:
				p.since = cmp.Or(p.since, e.at)
			case p.since != 0:
				if e.at > p.since {
					s.stood(lock, p.since, e.at)
				}
				p.since = 0
			}
		}
		p.edges = slices.Clone(p.edges[n:])
	}
}

// stood judges one stretch in which somebody waited and nobody was inside.
func (s *standing) stood(lock int, from, to int64) {
	s.verdict.Judged["times a member was wanted and nobody was inside"]++
	until := from + s.late.bounds.Stand.Nanoseconds()
	near := s.late.near(from, until, s.troubles)
	if near {
		until += s.late.bounds.Troubled.Nanoseconds()
	}
	until = grown(from, until, to, near, s.troubles)
	switch {
	case to <= until:
	case s.late.owns(lock, to-s.late.bounds.Stand.Nanoseconds()/2, to):
		s.verdict.Judged["times a JVM kept a member that none of its threads had"]++
	default:
		s.Violation("standstill: lock %d was wanted for %v, and nobody was inside (bound %v, calm %t), from %d on:%s", lock,
			time.Duration(to-from), time.Duration(until-from), !near, from, s.late.seen(lock, from, to))
	}
}

// owns reports whether the server showed one owner of a JVM, and no other, on a lock between from and to. No round is that
// long: a call that ended with an exception left the hold, and Redisson's watchdog renews it as long as the JVM lives.
func (l *lateness) owns(lock int, from, to int64) bool {
	owner := ""
	for _, s := range l.sightings {
		if s.Lock != lock || s.Answered < from || s.Answered > to {
			continue
		}
		for o := range s.Owners {
			if owner != "" && o != owner || !l.jvms[client(o)] {
				return false
			}
			owner = o
		}
	}
	return owner != ""
}
