package checker

import (
	"maps"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// reentry judges what an owner that asks again is told of a lock that nobody may enter twice: refused at once, if it is
// inside for the whole of the call, and never refused as being inside, if it certainly is not. (That it is not granted
// the lock is exclusion.) The second is judged of Go alone: Redisson repeats a lost acquire, and takes the first for its own.
type reentry struct {
	*Checker
	owners map[owning]*having
}

// having is what one owner may have of one lock.
type having struct {
	window Window // its last
	till   int64  // how long it may hold on the server
}

// add takes in an acquisition and its window, in the order of their calls.
func (r *reentry) add(a *history.Acquisition, w Window) {
	if !r.model.Once || a.Owner == "" {
		return
	}
	key := owning{a.Lock, a.Owner}
	h := r.owners[key]
	if h == nil {
		h = &having{}
		r.owners[key] = h
	}
	switch {
	case a.Refusal == history.Reentered:
		r.verdict.Judged["refused as being inside"]++
		if a.Process.Side == history.Go && h.till < a.Called {
			r.Violation("re-entry: %s was told at %d that its owner is inside, which has held nothing since %d", a.Who(), a.Called, h.till)
		}
		return
	case a.Refusal == history.Locked:
		if h.window.Void == "" && h.window.From < a.Called && h.window.To > a.Returned {
			r.Violation("re-entry: %s was told that another has the lock, though its owner has it: %v", a.Who(), h.window)
		}
		return
	case a.Held && (a.Outcome == history.OK || a.Outcome == history.NotHeld):
		h.till = max(h.till, a.Unlocked)
	default:
		h.till = forever
	}
	if a.Held {
		h.window = w
	}
}

// forget drops who has held nothing since an instant: that is what is known of a stranger, too.
func (r *reentry) forget(since int64) {
	maps.DeleteFunc(r.owners, func(_ owning, h *having) bool { return h.till < since })
}
