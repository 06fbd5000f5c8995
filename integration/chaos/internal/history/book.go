package history

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// Book folds events into acquisitions. All methods are safe for concurrent use.
type Book struct {
	mu       sync.Mutex // guards everything below
	lives    map[Process]*life
	finished []*Acquisition
	voids    []*Void
	tallies  map[Tally]int
	odd      []string

	sightings []Sighting
	queues    []Queue
}

type life struct {
	seen int64 // time of the last call or tick: all earlier calls are known
	open map[int64]*Acquisition
}

// Tally is the key by which outcomes are counted.
type Tally struct {
	Side Side
	What string // the call
	Kind string // its outcome
}

func NewBook() *Book {
	return &Book{lives: map[Process]*life{}, tallies: map[Tally]int{}}
}

// Begin registers a process, before its first event.
func (b *Book) Begin(p Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lives[p] = &life{seen: machineclock.Now(), open: map[int64]*Acquisition{}}
}

// End finishes the open acquisitions of a process after its last event, and forgets the process.
func (b *Book) End(p Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lives[p]
	if l == nil {
		return
	}
	delete(b.lives, p)
	now := machineclock.Now()
	for _, a := range l.open {
		a.Died = now
		if a.Returned == 0 {
			b.count(p.Side, a.Mode, "process killed")
		} else {
			b.count(p.Side, "Unlock", "process killed")
		}
		b.finished = append(b.finished, a)
	}
}

// Add records an event. It ignores a process before Begin and after End.
func (b *Book) Add(p Process, e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lives[p]
	if l == nil {
		return
	}
	switch e.What {
	case Tick:
		l.seen = max(l.seen, e.At)
		return
	case Called:
		l.seen = max(l.seen, e.At)
		l.open[e.Op] = &Acquisition{
			Process: p, Op: e.Op, Worker: e.Worker, Lock: e.Lock, Owner: e.Owner, Outer: e.Outer, Asked: e.Owner != "",
			Mode: e.Mode, Lease: e.Lease, Called: e.At, Read: e.Read, Permits: e.Permits,
		}
		return
	case Odd:
		b.odd = append(b.odd, fmt.Sprintf("%v: %s: %s", p, e.Mode, e.Text))
		return
	case Other:
		b.count(p.Side, e.Mode, e.Kind)
		return
	}
	a := l.open[e.Op]
	if a == nil {
		return
	}
	switch e.What {
	case Held:
		a.Held, a.Returned, a.Owner, a.Until, a.Token, a.Place = true, e.At, e.Owner, e.Until, e.Token, cmp.Or(e.Place, e.Owner)
		a.Said = append(a.Said, Said{e.At, e.Until})
		b.count(p.Side, a.Mode, OK)
	case Refused:
		a.Returned, a.Refusal = e.At, e.Kind
		b.count(p.Side, a.Mode, e.Kind)
		b.finish(l, a)
	case Trust:
		a.Until = e.Until
		a.Said = append(a.Said, Said{e.At, e.Until})
		a.Moved = a.Moved || e.Mode == Moved
	case Lost:
		if a.Lost == 0 {
			a.Lost = e.At
		}
	case Unlock:
		a.Unlock = e.At
	case Unlocked:
		a.Unlocked, a.Outcome, a.Left = e.At, e.Kind, e.Mode == Left
		b.count(p.Side, "Unlock", e.Kind)
		b.finish(l, a)
	}
}

func (b *Book) finish(l *life, a *Acquisition) {
	delete(l.open, a.Op)
	b.finished = append(b.finished, a)
}

func (b *Book) count(s Side, what, kind string) { b.tallies[Tally{s, what, kind}]++ }

// Voiding records that a fault is about to delete the server's data. The caller calls done when it is over.
func (b *Book) Voiding(lock int, why string) (done func()) { return b.VoidingUnless(lock, why, nil) }

// VoidingUnless is Voiding, except for the holds that spares accepts, as in [Void]. The checker calls spares when it judges
// the history.
func (b *Book) VoidingUnless(lock int, why string, spares func(owner string, returned int64) bool) (done func()) {
	_, done = b.VoidingSince(lock, why, spares)
	return done
}

// VoidingSince is VoidingUnless for a fault that is noticed late. The caller calls calm while all is well, and the void
// begins at the last such call.
func (b *Book) VoidingSince(lock int, why string, spares func(owner string, returned int64) bool) (calm, done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &Void{From: machineclock.Now(), To: open, Lock: lock, Why: why, Spares: spares}
	b.voids = append(b.voids, v)
	now := func(at *int64) func() {
		return func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			*at = machineclock.Now()
		}
	}
	return now(&v.From), now(&v.To)
}

// Chapter is a complete part of the history: every acquisition that was called before Horizon, and every Void that began
// before one of these ended, is in this chapter or an earlier one.
type Chapter struct {
	Acquisitions []*Acquisition // unordered
	Voids        []Void
	Sightings    []Sighting
	Queues       []Queue
	Horizon      int64
}

// Turn returns what has finished since the last Turn.
func (b *Book) Turn() Chapter {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := Chapter{Sightings: b.sightings, Queues: b.queues, Horizon: machineclock.Now()}
	b.sightings, b.queues = nil, nil
	for _, l := range b.lives {
		c.Horizon = min(c.Horizon, l.seen)
		for _, a := range l.open {
			c.Horizon = min(c.Horizon, a.Called)
		}
	}
	var rest []*Void
	for _, v := range b.voids {
		if v.To == open {
			c.Horizon = min(c.Horizon, v.From)
			for _, a := range b.finished {
				if max(a.Returned, a.Unlocked) >= v.From { // what its holder was told may be the fault's doing
					c.Horizon = min(c.Horizon, a.Called)
				}
			}
			rest = append(rest, v)
		} else {
			c.Voids = append(c.Voids, *v)
		}
	}
	b.voids = rest
	b.finished = slices.DeleteFunc(b.finished, func(a *Acquisition) bool {
		if a.Called < c.Horizon {
			c.Acquisitions = append(c.Acquisitions, a)
		}
		return a.Called < c.Horizon
	})
	return c
}

func (b *Book) Tallies() map[Tally]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[Tally]int, len(b.tallies))
	for k, n := range b.tallies {
		all[k] = n
	}
	return all
}

// Oddities returns the outcomes that no contract names.
func (b *Book) Oddities() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.odd...)
}
