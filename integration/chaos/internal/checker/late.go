package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// Bounds limit how long a waiter may take to enter a free lock, and how much may be set aside.
type Bounds struct {
	Calm     time.Duration // for a waiter, with no fault near
	Troubled time.Duration // for a waiter near faults, in addition to how long the faults last
	Settle   time.Duration // how long a fault counts as near after its end
	Voided   float64       // the share of windows that may be set aside
	Lease    time.Duration // of a hold without a fixed one
	Place    time.Duration // how long each waiter of a queue keeps its place; 0 without a queue
	Stand    time.Duration // how long a wanted member of a multi-lock may stay free
}

// Trouble is a time in which a fault was in force, or, if Late is not 0, in which the machine delayed the run by Late: all
// bounds grow by Late.
type Trouble struct{ From, To, Late int64 }

// grown returns the end of a bound that runs from from to until: delays move it, and, if faults is true, also the time that
// faults were in force before most. The troubles are sorted by From.
func grown(from, until, most int64, faults bool, troubles []Trouble) int64 {
	for _, t := range troubles {
		switch {
		case t.To <= from || t.From >= until:
		case t.Late > 0:
			until += t.Late
		case faults:
			until += min(t.To, most) - max(t.From, from)
		}
	}
	return until
}

// lateness records for each lock when it became free and when somebody entered.
type lateness struct {
	bounds    Bounds
	locks     map[int]*comings
	sightings []history.Sighting
	jvms      map[string]bool // the first halves of Java's owners
	// first reports whether a, of all waiters, had to enter a lock that was free from at to until; nil: any of them had to.
	first   func(a *history.Acquisition, at, until int64) bool
	entries [2]map[history.Side][]time.Duration // times from free to entered: near faults, in calm
}

type comings struct {
	freed   []freed
	entered []entry
	waits   []wait
	all     []*history.Acquisition
}

// freed says that the end of an acquisition freed a lock between from and at.
type freed struct {
	by       *history.Acquisition
	from, at int64
}

// shared reports whether somebody else may still have been inside when a reader left.
func (c *comings) shared(f freed) bool {
	return f.by.Read && slices.ContainsFunc(c.all, func(a *history.Acquisition) bool {
		left := a.Unlocked
		if a.Outcome != history.OK {
			left = max(end(a), a.Until)
		}
		return a != f.by && left > f.from && (a.Held && a.Returned < f.at || a.Died != 0 && a.Called < f.at)
	})
}

type entry struct {
	at   int64
	wait *history.Acquisition
}

type wait struct {
	from, to int64
	by       *history.Acquisition
}

// end returns the time of the last event of an acquisition.
func end(a *history.Acquisition) int64 { return max(a.Returned, a.Unlocked, a.Died) }

// meanwhile lists what everybody, or one owner, did with the lock between from and to.
func (c *comings) meanwhile(from, to int64, owner string) string {
	const most = 30
	var b strings.Builder
	n := 0
	for _, a := range c.all {
		if a.Called > to || end(a) < from-int64(5*time.Millisecond) || owner != "" && a.Owner != owner {
			continue
		}
		if n++; n > most {
			break
		}
		at := func(t int64) string {
			if t == 0 {
				return "–"
			}
			return fmt.Sprintf("%.1f", float64(t-from)/1e6)
		}
		fmt.Fprintf(&b, "\n      %s: called %s, returned %s (held %t %s), lost %s, unlock %s to %s (%s), died %s",
			a.Who(), at(a.Called), at(a.Returned), a.Held, a.Refusal, at(a.Lost), at(a.Unlock), at(a.Unlocked), a.Outcome, at(a.Died))
	}
	return b.String()
}

// seen lists the owners that the server showed between from and to, each time they changed.
func (l *lateness) seen(lock int, from, to int64) string {
	var b strings.Builder
	last := ""
	for _, s := range l.sightings {
		if all := fmt.Sprint(s.Owners); s.Lock == lock && s.Answered > from && s.Answered < to && all != last {
			last = all
			fmt.Fprintf(&b, "\n      the server showed %s for %d ms, at %.1f", all, s.TTL, float64(s.Answered-from)/1e6)
		}
	}
	return b.String()
}

func newLateness(b Bounds) *lateness {
	l := &lateness{bounds: b, locks: map[int]*comings{}, jvms: map[string]bool{}}
	for i := range l.entries {
		l.entries[i] = map[history.Side][]time.Duration{}
	}
	return l
}

func (l *lateness) add(a *history.Acquisition) {
	c := l.locks[a.Lock]
	if c == nil {
		c = &comings{}
		l.locks[a.Lock] = c
	}
	c.all = append(c.all, a)
	if a.Held && a.Process.Side == history.Java {
		l.jvms[client(a.Owner)] = true
	}
	if a.Held {
		c.entered = append(c.entered, entry{a.Returned, a})
	}
	// An owner that comes back queues differently, and a killed process no longer waits.
	// Others may overtake a call for several permits.
	if a.Process.Side == history.Go && !a.Asked && a.Mode != "TryLock" && a.Returned != 0 && a.Permits < 2 {
		c.waits = append(c.waits, wait{a.Called, a.Returned, a})
	}
}

// free records that the end of an acquisition freed the lock between from and at, unless others share it.
func (l *lateness) free(by *history.Acquisition, from, at int64) {
	if c := l.locks[by.Lock]; c != nil {
		c.freed = append(c.freed, freed{by, from, at})
	}
}

// judge checks what became free before horizon, which lies far enough back that all entries are known.
func (l *lateness) judge(horizon int64, troubles []Trouble) []string {
	var late []string
	for lock, c := range l.locks {
		slices.SortFunc(c.entered, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
		var later []freed
		for _, f := range c.freed {
			if f.from >= horizon {
				later = append(later, f)
				continue
			}
			if text := l.look(lock, c, f, troubles); text != "" {
				late = append(late, text)
			}
		}
		c.freed = later
		c.entered = slices.DeleteFunc(c.entered, func(e entry) bool { return e.at < horizon })
		c.waits = slices.DeleteFunc(c.waits, func(w wait) bool { return w.to < horizon })
	}
	return late
}

// forget drops what ended before horizon.
func (l *lateness) forget(horizon int64) {
	for _, c := range l.locks {
		c.all = slices.DeleteFunc(c.all, func(a *history.Acquisition) bool { return end(a) < horizon })
	}
	l.sightings = slices.DeleteFunc(l.sightings, func(s history.Sighting) bool { return s.Answered < horizon })
}

func (l *lateness) look(lock int, c *comings, f freed, troubles []Trouble) string {
	at := f.at
	if c.shared(f) {
		return ""
	}
	// The acquire that entered may return before the release does.
	i, _ := slices.BinarySearchFunc(c.entered, f.from+1, func(e entry, t int64) int { return cmp.Compare(e.at, t) })
	next := int64(forever)
	if i < len(c.entered) {
		next = c.entered[i].at
	}
	bound, calm := l.limit(at, troubles)
	for _, a := range c.all { // a killed process may have been granted the lock
		if a.Died != 0 && a.Called < next && a.Died+a.Lease > at {
			bound = max(bound, a.Died+a.Lease-at+l.bounds.Troubled.Nanoseconds())
		}
	}
	if next != forever && c.entered[i].wait.Called < f.from {
		which := 0
		if calm {
			which = 1
		}
		side := c.entered[i].wait.Process.Side
		l.entries[which][side] = append(l.entries[which][side], time.Duration(max(next-at, 0)))
	}
	for _, w := range c.waits {
		if w.from < at && min(next, w.to)-at > bound && !(f.by.Read && l.kept(lock, at, at+bound)) && (l.first == nil || l.first(w.by, f.from, at+bound)) {
			return fmt.Sprintf("lock %d was free at %d and nobody entered for %v (bound %v, calm %t), though %s waited; in ms from then on:%s",
				lock, at, time.Duration(min(next, w.to)-at), time.Duration(bound), calm, w.by.Who(), c.meanwhile(at, min(next, w.to), "")+l.seen(lock, at, min(next, w.to)))
		}
	}
	return ""
}

// near reports whether a fault was in force between from and to, or ended less than Settle before.
func (l *lateness) near(from, to int64, troubles []Trouble) bool {
	settle := l.bounds.Settle.Nanoseconds()
	return slices.ContainsFunc(troubles, func(t Trouble) bool { return t.Late == 0 && t.From < to && t.To+settle > from })
}

// kept reports whether the server showed a JVM's owner on the lock between from and to. A Redisson call that ended with an
// exception may be granted a read hold later. No thread knows of it, its watchdog renews it as long as the JVM lives, and Go's
// readers enter and leave meanwhile. Where the server shows nothing, as in a set, kept returns true.
func (l *lateness) kept(lock int, from, to int64) bool {
	return len(l.sightings) == 0 || slices.ContainsFunc(l.sightings, func(s history.Sighting) bool {
		if s.Lock != lock || s.Answered <= from || s.Answered >= to {
			return false
		}
		for o := range s.Owners {
			if l.jvms[client(o)] {
				return true
			}
		}
		return false
	})
}

// client returns the first half of an owner.
func client(owner string) string {
	id, _, _ := strings.Cut(owner, ":")
	return id
}

// limit returns how long a waiter may take from at on, and whether no fault is near.
func (l *lateness) limit(at int64, troubles []Trouble) (bound int64, calm bool) {
	until := at + l.bounds.Calm.Nanoseconds()
	if !l.near(at, until, troubles) {
		return grown(at, until, forever, false, troubles) - at, true
	}
	return grown(at, at+l.bounds.Troubled.Nanoseconds(), forever, true, troubles) - at, false
}
