package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// Availability is how one lock was there for those who waited.
type Availability struct {
	Wanted  time.Duration // somebody waited, or was inside
	Nobody  time.Duration // of it: nobody was inside
	Longest time.Duration // of these stretches
}

// availability follows, lock by lock, when somebody was inside or waited.
type availability struct {
	lease time.Duration // of what has no fixed one
	locks map[int]*presence
	// stands is told of each stretch in which somebody waited and nobody was inside; nil: nobody is.
	stands func(lock int, from, to int64)
}

type presence struct {
	Availability
	edges  []edge // that are not counted yet
	at     int64  // until when all is counted
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
func (v *availability) add(a *history.Acquisition) {
	from, to := a.Window()
	switch {
	case a.Died != 0:
		from, to = a.Called, max(to, a.Died+max(a.Lease, v.lease.Nanoseconds()))
	case a.Mode == "TryLock" && !a.Held:
		return
	}
	p := v.locks[a.Lock]
	if p == nil {
		p = &presence{}
		v.locks[a.Lock] = p
	}
	p.span(1, from, to)
	p.span(0, a.Called, max(a.Returned, to))
}

func (p *presence) span(inside int, from, to int64) {
	if from < to {
		p.edges = append(p.edges, edge{from, inside, 1}, edge{to, inside, -1})
	}
}

// judge counts until an instant before which all is known.
func (v *availability) judge(horizon int64) {
	for lock, p := range v.locks {
		slices.SortFunc(p.edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		n := 0
		for ; n < len(p.edges) && p.edges[n].at < horizon; n++ {
			since := p.since
			if p.pass(p.edges[n]); since != 0 && p.since == 0 && p.at > since && v.stands != nil {
				v.stands(lock, since, p.at)
			}
		}
		p.edges = slices.Clone(p.edges[n:])
	}
}

// pass counts the time until an edge.
func (p *presence) pass(e edge) {
	if p.counts[0] > 0 {
		p.Wanted += time.Duration(e.at - p.at)
	}
	if p.since != 0 {
		p.Nobody += time.Duration(e.at - p.at)
		p.Longest = max(p.Longest, time.Duration(e.at-p.since))
	}
	p.at = e.at
	p.counts[e.inside] += e.more
	if p.counts[0] > 0 && p.counts[1] == 0 {
		p.since = cmp.Or(p.since, e.at)
	} else {
		p.since = 0
	}
}

func (v *availability) all() map[int]Availability {
	m := map[int]Availability{}
	for lock, p := range v.locks {
		m[lock] = p.Availability
	}
	return m
}
