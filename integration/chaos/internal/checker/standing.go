package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// standing follows, member by member, when somebody waited and nobody was inside. Where locks are acquired together, one
// may be kept by who waits for another; so no release has to let anybody in at once, but such a stretch must end with a
// round or two.
type standing struct {
	*Checker
	members map[int]*presence
}

type presence struct {
	edges  []edge // that are not counted yet
	counts [2]int // who waits or is inside, and who is inside
	since  int64  // when nobody was inside any more though somebody waited; 0: that is not so
}

// edge is an instant at which one more, or one less, waits or is inside.
type edge struct {
	at     int64
	inside int // an index of presence.counts
	more   int
}

// add takes in what is known of an acquisition. Who was killed may have the lock until its lease ends; nobody knows.
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

// judge goes on to an instant before which all is known.
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

// stood judges one stretch.
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

// owns tells whether the server showed one owner of a JVM, and nobody else, as a lock's between two instants: longer than
// any round, so a call that ended with an exception left it, and Redisson's watchdog renews it as long as the JVM lives.
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
