package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// Window is a time in which a holder had reason to believe that nobody else was inside.
type Window struct {
	From, To int64
	Lock     int
	Owner    string
	Read     bool
	Permits  int
	Process  history.Process
	Who      string
	Void     string // the fault that cut it short or set it aside; empty for none
	by       *history.Acquisition
}

// String returns the window's text in violations.
func (w Window) String() string {
	return fmt.Sprintf("%s, %v from %d", w.Who, time.Duration(w.To-w.From), w.From)
}

// owning is the key for one owner on one lock.
type owning struct {
	lock  int
	owner string
}

// voiding cuts windows at faults that deleted the data.
type voiding struct {
	voids []history.Void
	// tainted is until when an owner's later windows are void: the unlock of a void window may release them.
	tainted map[owning]int64
	// spoilt is the first unlock by one client of an owner that may have released another client's hold.
	spoilt map[owning]int64
}

const forever = 1<<63 - 1

// window returns the acquisition's window, cut where a fault took the lock. Acquisitions of one owner must come in the
// order of their calls.
func (v *voiding) window(a *history.Acquisition) Window {
	from, to := a.Window()
	w := Window{From: from, To: to, Lock: a.Lock, Owner: a.Owner, Read: a.Read, Permits: a.Permits, Process: a.Process, Who: a.Who(), by: a}
	for _, void := range v.voids {
		if void.Hits(a) {
			w.Void = void.Why
			w.To = min(w.To, void.From)
		}
	}
	key := owning{a.Lock, a.Owner}
	if at, is := v.spoilt[key]; is && w.To > at {
		w.Void, w.To = "an unlock of its owner's that was late or lost", max(w.From, at)
	}
	if w.Void == "" && a.Called < v.tainted[key] {
		w.Void, w.To = "its owner had a window that a fault made void", w.From
	}
	if w.Void != "" {
		until := int64(forever)
		if a.Outcome == history.OK || a.Outcome == history.NotHeld || a.Outcome == history.LostLease || a.Outcome == history.Kept {
			until = a.Unlocked
		}
		v.tainted[key] = max(v.tainted[key], until)
	}
	return w
}

// spoils records an unlock by one of several clients of an owner, if it may have run after the hold was over, or may yet run.
func (v *voiding) spoils(a *history.Acquisition) {
	if !a.Asked || a.Unlock == 0 || a.Outcome == history.Kept || a.Outcome == history.OK && a.Unlocked <= a.Until {
		return
	}
	key := owning{a.Lock, a.Owner}
	if at, is := v.spoilt[key]; !is || a.Unlock < at {
		v.spoilt[key] = a.Unlock
	}
}

// between reports whether a fault deleted the data of a lock between from and to.
func (v *voiding) between(lock int, from, to int64) bool {
	return slices.ContainsFunc(v.voids, func(x history.Void) bool {
		return (x.Lock == lock || x.Lock == history.Every) && x.From < to && x.To > from
	})
}

// Overlap is two windows that must not overlap but do. With permits, others may add to the overlap.
type Overlap struct{ A, B Window }

// Overlaps returns the forbidden overlaps among windows of one lock. Empty windows overlap nothing.
func (m Model) Overlaps(windows []Window) []Overlap {
	sorted := slices.DeleteFunc(slices.Clone(windows), func(w Window) bool { return w.To <= w.From })
	slices.SortStableFunc(sorted, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	var found []Overlap
	var inside []Window
	for _, w := range sorted {
		inside = slices.DeleteFunc(inside, func(x Window) bool { return x.To <= w.From })
		taken := 0
		for _, x := range inside {
			if taken += x.Permits; !m.together(x, w) {
				found = append(found, Overlap{x, w})
			}
		}
		if !m.fits(w, taken) {
			found = append(found, Overlap{inside[len(inside)-1], w})
		}
		inside = append(inside, w)
	}
	return found
}
