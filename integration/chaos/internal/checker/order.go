package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// ordering judges whether the first in the queue enters first.
//
// Let a be a waiter that was seen in the queue and entered later. Nobody that was behind a there, or that was absent and
// called only later, may enter before a, unless a may have lost its place:
//   - The place may have expired. All waiters add the same time to the queue, so it lasted at least until the time that the
//     server showed, less that time for each place before a's.
//   - a is Java's, which keeps its owner when it repeats a lost command, and a fault was near.
//
// If a fault deleted the queue, or forced the lock, the windows of the waiters of that time are void and not judged.
//
// Only a single server's queues are read: in a set, order is not judged.
//
// Owners that come back are not judged, on either side: they may enter because they are inside, and they wait for each other.
// A Java owner also counts as coming back if it was inside, when it called, by an acquire that it took for lost.
type ordering struct {
	*Checker
	lines map[int]*line
}

type line struct {
	queues  []history.Queue // by Asked
	granted []grant         // to owners that don't come back
	next    []grant         // those of granted that are still to be judged as a
}

type grant struct {
	*history.Acquisition
	window Window
}

func (o *ordering) of(lock int) *line {
	if o.lines[lock] == nil {
		o.lines[lock] = &line{}
	}
	return o.lines[lock]
}

func (o *ordering) see(queues []history.Queue) {
	for _, q := range queues {
		l := o.of(q.Lock)
		l.queues = append(l.queues, q)
	}
}

func (o *ordering) add(a *history.Acquisition, w Window) {
	if o.model.Order && !a.Asked && w.Void == "" {
		l := o.of(a.Lock)
		g := grant{a, w}
		l.granted = append(l.granted, g)
		// A hold that was over when its call returned may have been granted long before.
		if w.From < w.To {
			l.next = append(l.next, g)
		}
	}
}

// judge checks the grants before horizon, which are all known. It keeps the queues of the time since kept.
func (o *ordering) judge(horizon, kept int64) {
	for _, l := range o.lines {
		slices.SortFunc(l.granted, func(a, b grant) int { return cmp.Compare(a.Returned, b.Returned) })
		var later []grant
		since := horizon
		for _, a := range l.next {
			if a.Returned >= horizon {
				later = append(later, a)
				since = min(since, a.Called)
				continue
			}
			o.look(l, a)
		}
		l.next = later
		l.granted = slices.DeleteFunc(l.granted, func(b grant) bool { return b.Returned < since })
		l.queues = slices.DeleteFunc(l.queues, func(q history.Queue) bool { return q.Answered < min(since, kept) })
	}
}

// look reports each grant that was behind a in the queue and entered before it.
func (o *ordering) look(l *line, a grant) {
	told := map[*history.Acquisition]bool{}
	behind := 0
	for _, q := range l.queues {
		if q.Asked <= a.Called || q.Answered >= a.Returned {
			continue
		}
		at := func(g grant) int {
			return slices.IndexFunc(q.Places, func(p history.Place) bool { return p.Owner == g.Place })
		}
		place := at(a)
		if place < 0 {
			continue
		}
		java := a.Process.Side == history.Java
		till := q.Places[place].Until - int64(place)*o.late.bounds.Place.Nanoseconds()
		if a.Returned < till {
			behind = len(q.Places) - place - 1
		}
		first, _ := slices.BinarySearchFunc(l.granted, q.Answered, returned)
		for _, b := range l.granted[first:] {
			if b.Returned >= min(a.Returned, till) {
				break
			}
			if o.cameBack(b) {
				continue
			}
			if (at(b) > place || at(b) < 0 && b.Called > q.Answered) && !told[b.Acquisition] && !(java && o.late.near(q.Asked, b.Returned, o.troubles)) {
				told[b.Acquisition] = true
				o.Violation("order: lock %d was another's, %v before the one's that was before it in the queue at %d, with %v left of its place:\n    %v, called at %d\n    %v, called at %d%s%s%s",
					a.Lock, time.Duration(a.Returned-b.Returned), q.Asked, time.Duration(till-q.Asked), b.window, b.Called, a.window, a.Called,
					o.late.locks[a.Lock].meanwhile(q.Asked, a.Returned, ""), o.late.seen(a.Lock, q.Asked, a.Returned), l.shown(q.Asked, a.Returned))
			}
		}
	}
	o.verdict.Judged["waiters seen behind one that entered"] += behind
}

// cameBack reports whether b is Java's and was seen inside just before it called, though every hold that it knew of was over.
func (o *ordering) cameBack(b grant) bool {
	for _, s := range slices.Backward(o.late.sightings) {
		if s.Lock == b.Lock && s.Answered <= b.Called {
			return b.Process.Side == history.Java && s.Owners[b.Place] > 0 && !slices.ContainsFunc(o.late.locks[b.Lock].all, func(a *history.Acquisition) bool {
				return a.Owner == b.Owner && a.Held && a.Called < b.Called && end(a) >= s.Asked
			})
		}
	}
	return false
}

// shown lists the queue between from and to, each time its owners changed.
func (l *line) shown(from, to int64) string {
	var b strings.Builder
	last := ""
	for _, q := range l.queues {
		who, left := "", ""
		for _, p := range q.Places {
			who, left = who+p.Owner, left+fmt.Sprintf(" %s for %d ms", p.Owner, (p.Until-q.Asked)/1e6)
		}
		if q.Asked >= from && q.Answered <= to && who != last {
			last = who
			fmt.Fprintf(&b, "\n      the queue, at %.1f:%s", float64(q.Asked-from)/1e6, left)
		}
	}
	return b.String()
}

// first reports whether a was first in the queue just before at, with a place that lasts beyond until.
func (o *ordering) first(a *history.Acquisition, at, until int64) bool {
	queues := o.of(a.Lock).queues
	i, _ := slices.BinarySearchFunc(queues, at, func(q history.Queue, at int64) int { return cmp.Compare(q.Answered, at) })
	if i == 0 || len(queues[i-1].Places) == 0 {
		return false
	}
	next := queues[i-1].Places[0]
	return next.Owner == a.Place && next.Until > until
}
