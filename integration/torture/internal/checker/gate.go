package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// gates judge latches. What was called of one latch must be a run of a count: it is set while it is 0, each count-down
// that returned lowers it by one, once, and no wait returns while it is above 0. A count-down of which nobody knows whether it
// ran may take effect at any later time, or never. Who waits returns in time once the count is 0.
type gates struct {
	*Checker
	calls map[int][]*history.Acquisition // by latch
	voids []history.Void
}

// gateIdle is how long after its last call a latch is judged: none is called after its round.
const gateIdle = 30 * time.Second

func (g *gates) add(a *history.Acquisition) {
	if g.model.Count > 0 {
		g.calls[a.Lock] = append(g.calls[a.Lock], a)
	}
}

// judge looks at latches of which all is known.
func (g *gates) judge(horizon int64) {
	for lock, calls := range g.calls {
		slices.SortStableFunc(calls, func(a, b *history.Acquisition) int { return cmp.Compare(a.Called, b.Called) })
		if calls[len(calls)-1].Called > horizon-gateIdle.Nanoseconds() {
			continue
		}
		delete(g.calls, lock)
		l := latch{gates: g, lock: lock, calls: calls}
		last := int64(0)
		for _, a := range calls {
			last = max(last, end(a))
		}
		for _, v := range g.voids {
			if (v.Lock == lock || v.Lock == history.Every) && v.From < last {
				l.voids = append(l.voids, v)
			}
		}
		l.judge()
	}
}

// latch is one of them, with all that was called, in the order of the calls.
type latch struct {
	*gates
	lock  int
	calls []*history.Acquisition
	voids []history.Void
}

func (l *latch) judge() {
	v := &l.verdict
	undone := l.undone()
	if undone != "" {
		v.Judged["latches set aside, which a failover met"]++
	}
	for _, a := range l.calls {
		if a.Mode == history.Await && a.Outcome == history.OK {
			v.Windows++
			if undone != "" {
				v.Voided++
				v.Why[undone]++
			}
		}
		if a.Outcome == history.OK || a.Outcome == history.Locked {
			v.Judged["calls of latches"]++
		}
	}
	if undone != "" {
		return
	}
	if sets, at := l.sets(); sets == 1 && !l.voided(at) {
		l.early(at)
		l.inTime(at)
	}
	linear, err := l.linearizable()
	if err != nil {
		l.Violation("latch %d: %v", l.lock, err)
	} else if !linear {
		l.Violation("latch: what was called of latch %d is no run of one:%s", l.lock, l.told())
	}
}

// sets is how often the count was set, and when that was over.
func (l *latch) sets() (n int, at int64) {
	for _, a := range l.calls {
		if a.Mode == history.Set {
			n, at = n+1, a.Returned
		}
	}
	return n, at
}

// undone is the failover that may have taken any of the latch's count-downs back; empty for none.
func (l *latch) undone() string {
	for _, v := range l.voids {
		if v.Undoes() && v.To > l.calls[0].Called {
			return v.Why
		}
	}
	return ""
}

func (l *latch) voided(since int64) bool {
	return slices.ContainsFunc(l.voids, func(v history.Void) bool { return v.To > since })
}

// may tells whether a count-down may have run. One whose context ended before it was sent has not.
func may(a *history.Acquisition) bool {
	return a.Mode == history.CountDown && a.Outcome != "context canceled" && a.Outcome != "context deadline exceeded"
}

// early names who came through before the last count-down was called.
func (l *latch) early(set int64) {
	for _, a := range l.calls {
		if a.Outcome != history.OK || a.Called < set || a.Mode != history.Await && a.Mode != history.Counting {
			continue
		}
		begun, done := 0, 0
		for _, d := range l.calls {
			if may(d) && d.Called < a.Returned {
				begun++
			}
			if may(d) && d.Outcome == history.OK && d.Called > set && d.Returned < a.Called {
				done++
			}
		}
		switch all := l.model.Count; {
		case a.Mode == history.Await && begun < all:
			l.Violation("latch: %s came through latch %d at %d, after %d of %d count-downs", a.Who(), l.lock, a.Returned, begun, all)
		case a.Mode == history.Counting && (a.Got < all-begun || a.Got > max(all-done, 0)):
			l.Violation("latch: %s saw a count of %d of latch %d, after %d to %d of %d count-downs", a.Who(), a.Got, l.lock, done, begun, all)
		}
	}
}

// inTime wants who waits to return once the count is 0. Java's may miss a message that a fault takes.
func (l *latch) inTime(set int64) {
	var downs []int64
	for _, a := range l.calls {
		if may(a) && a.Outcome == history.OK && a.Called > set {
			downs = append(downs, a.Returned)
		}
	}
	if len(downs) < l.model.Count {
		return
	}
	slices.Sort(downs)
	at := downs[l.model.Count-1]
	l.verdict.Judged["latches that were opened"]++
	bound, calm := l.late.limit(at, l.troubles)
	for _, a := range l.calls {
		if a.Mode != history.Await || a.Called > at || end(a) < at || a.Died != 0 {
			continue
		}
		took := time.Duration(end(a) - at)
		which := 0
		if calm {
			which = 1
		}
		most := time.Duration(bound)
		if a.Process.Side == history.Java {
			if l.late.near(a.Called, at+bound, l.troubles) {
				continue
			}
			most = 3 * time.Second
		}
		if a.Outcome == history.OK {
			l.late.entries[which][a.Process.Side] = append(l.late.entries[which][a.Process.Side], took)
		}
		if took > most {
			l.Violation("latch: %s waited for latch %d for %v after it was open at %d (bound %v, calm %t): %s",
				a.Who(), l.lock, took, at, most, calm, a.Outcome)
		}
	}
}

// turn is a step of a latch as porcupine asks for it: what was called, and what it said.
type turn struct {
	mode string
	got  int // of Set and Counting
	open bool
	// unknown is the number of a count-down of which nobody knows whether it ran, by when it was called. They are all alike, so
	// that one called earlier may as well have run earlier: only that order is tried, where all orders would be too many.
	unknown int
}

// tally is a latch's state: its count, and how many count-downs have run of which nobody knows.
type tally struct{ count, unknown int }

// wiped is a turn's mode of a fault that takes the count.
const wiped = "wiped"

func (l *latch) linearizable() (bool, error) {
	var steps []porcupine.Operation
	unknown := 0
	add := func(t turn, called, returned int64) {
		steps = append(steps, porcupine.Operation{Input: t, Call: called, Return: returned})
	}
	for _, v := range l.voids {
		add(turn{mode: wiped}, v.From, v.To)
	}
	for _, a := range l.calls {
		switch {
		case a.Outcome == history.OK:
			add(turn{mode: a.Mode, got: a.Got, open: true}, a.Called, a.Returned)
		case a.Mode == history.Await && a.Outcome == history.Locked:
			add(turn{mode: a.Mode}, a.Called, a.Returned)
		case may(a):
			unknown++
			add(turn{mode: a.Mode, unknown: unknown}, a.Called, forever)
		}
	}
	return decided(porcupine.CheckOperationsTimeout(porcupine.Model{
		Init: func() any { return tally{} },
		Step: func(state, input, _ any) (bool, any) {
			is, t := state.(tally), input.(turn)
			switch t.mode {
			case wiped:
				return true, tally{0, is.unknown}
			case history.Set:
				return is.count == 0, tally{t.got, is.unknown}
			case history.CountDown:
				next := tally{max(is.count-1, 0), max(is.unknown, t.unknown)}
				return t.unknown == 0 || t.unknown == is.unknown+1, next
			case history.Counting:
				return is.count == t.got, is
			}
			return t.open == (is.count == 0), is
		},
	}, steps, patience), len(steps))
}

// told is all that was called.
func (l *latch) told() string {
	const most = 100
	var b strings.Builder
	from := l.calls[0].Called
	for _, v := range l.voids {
		fmt.Fprintf(&b, "\n      %s: %.1f to %.1f", v.Why, float64(v.From-from)/1e6, float64(v.To-from)/1e6)
	}
	for _, a := range l.calls[:min(len(l.calls), most)] {
		fmt.Fprintf(&b, "\n      %s: called %.1f, returned %.1f (%s, %d)", a.Who(), float64(a.Called-from)/1e6, float64(end(a)-from)/1e6, a.Outcome, a.Got)
	}
	outcomes := map[string]int{}
	for _, a := range l.calls {
		outcomes[a.Mode+" "+a.Outcome]++
	}
	for _, what := range slices.Sorted(maps.Keys(outcomes)) {
		fmt.Fprintf(&b, "\n      %d %s", outcomes[what], what)
	}
	return b.String()
}
