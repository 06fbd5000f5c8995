package watchdog

import (
	"container/heap"
	"time"
)

// groups order the renewing leases by their next renewal, those of each group
// among themselves. Where all can be renewed together there is one group, and it
// is ordered as any queue.
type groups struct {
	of       func(Holder) int // nil: there is one group only
	schedule *schedule
	n        int            // leases
	one      group          // the only one
	by       map[int]*group // those that have leases
	order    groupOrder     // the same
}

// group is the leases that can be renewed together.
type group struct {
	queue
	number int
	pos    int // in order

	// Those that come to a group of more than a batch are renewed together too.
	newest time.Duration // when those that came last are due
	room   int           // how many more may be due then
}

func newGroups(of func(Holder) int, s *schedule) *groups {
	return &groups{of: of, schedule: s, one: group{queue: queue{name: inDue, schedule: s}}}
}

// find is l's group, nil if none of its leases is here.
func (s *groups) find(l *Lease) *group {
	if s.of == nil {
		return &s.one
	}
	return s.by[s.of(l.holder)]
}

// front is the group whose lease is first. There must be one.
func (s *groups) front() *group {
	if s.of == nil {
		return &s.one
	}
	return s.order[0]
}

// first is the earliest instant, Never without a lease.
func (s *groups) first() time.Duration {
	if s.n == 0 {
		return Never
	}
	return s.front().first()
}

// set puts l at an instant. It must be here or in no queue.
func (s *groups) set(l *Lease, at time.Duration) {
	g := s.find(l)
	if g == nil {
		g = s.begin(l)
	}
	if l.in == inNone {
		s.n++
	}
	g.set(l, at)
	s.reorder(g)
}

// begin makes the group of a lease that is the first of it.
func (s *groups) begin(l *Lease) *group {
	g := &group{queue: s.one.queue, number: s.of(l.holder), pos: len(s.order)}
	if s.by == nil {
		s.by = map[int]*group{}
	}
	s.by[g.number] = g
	s.order = append(s.order, g)
	return g
}

// remove takes l out.
func (s *groups) remove(l *Lease) { s.removeFrom(s.find(l), l) }

func (s *groups) removeFrom(g *group, l *Lease) {
	s.n--
	g.remove(l)
	s.reorder(g)
}

// reorder follows a change of g's first lease.
func (s *groups) reorder(g *group) {
	switch {
	case s.of == nil:
	case len(g.items) > 0:
		heap.Fix(&s.order, g.pos)
	default:
		heap.Remove(&s.order, g.pos)
		delete(s.by, g.number)
	}
}

// each calls f for every group that has leases; f may move them, but not beyond
// those of other groups without reorder.
func (s *groups) each(f func(*group)) {
	if s.of == nil {
		f(&s.one)
		return
	}
	for _, g := range s.order {
		f(g)
	}
}

// advance moves later instants of the leases that pick chooses to just after now.
func (s *groups) advance(now time.Duration, pick func(Holder) bool) {
	s.each(func(g *group) { g.advance(now, pick) })
	heap.Init(&s.order)
}

// drop empties all and frees their memory.
func (s *groups) drop() {
	s.each(func(g *group) { g.drop() })
	s.n, s.by, s.order = 0, nil, nil
}

// join has l renewed together with its group, if it has one already and that is
// due before l. Where too many others are due then, the whole group moves to
// where there is room, which is earlier, but not before now+wait. l must be in
// no queue.
func (s *groups) join(l *Lease, clock Clock, wait time.Duration) bool {
	g := s.find(l)
	switch {
	case g == nil || g.first() > l.renewAt:
		return false
	case len(g.items) >= MaxBatch:
		s.joinNewest(g, l, clock.Now(), wait)
		return true
	}
	if at := g.first(); !s.schedule.hasRoom(at) {
		if room := s.schedule.fit(at, clock.Now()+wait, len(g.items)+1); room < at {
			s.moveTo(g, room)
		}
	}
	l.renewAt = g.first()
	return true
}

// joinNewest is join for a group that has a batch already.
func (s *groups) joinNewest(g *group, l *Lease, now, wait time.Duration) {
	if g.room == 0 || g.newest <= now || g.newest > l.renewAt {
		g.newest, g.room = s.schedule.fit(l.renewAt, now+wait, MaxBatch), MaxBatch
	}
	g.room--
	l.renewAt = g.newest
}

// moveTo has all leases of g due at an instant that is before that of each.
func (s *groups) moveTo(g *group, at time.Duration) {
	for i := range g.items {
		it := &g.items[i]
		s.schedule.remove(it.at)
		it.at, it.lease.renewAt = at, at
		s.schedule.add(at)
	}
	s.reorder(g)
}

// groupOrder is a heap of groups by their first leases.
type groupOrder []*group

func (o groupOrder) Len() int           { return len(o) }
func (o groupOrder) Less(i, j int) bool { return o[i].items[0].at < o[j].items[0].at }
func (o groupOrder) Push(any)           { panic("begin does that") }

func (o groupOrder) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].pos, o[j].pos = i, j
}

func (o *groupOrder) Pop() any {
	last := len(*o) - 1
	g := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return g
}
