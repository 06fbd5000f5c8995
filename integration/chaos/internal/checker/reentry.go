package checker

import (
	"maps"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// reentry judges how a non-reentrant lock answers an owner that asks again. If the owner is inside for the whole call, the
// call must not report that another has the lock. If it certainly is not inside, the call must not be refused as a re-entry.
// (A second grant is found as an overlap.) The second rule is for Go alone: Redisson repeats a lost acquire, which may have
// been granted the lock.
type reentry struct {
	*Checker
	owners map[owning]*having
}

// having is what one owner may hold of one lock.
type having struct {
	window Window // the last one
	till   int64  // until when the server may have a hold
}

// add judges an acquisition with its window. They come in the order of their calls.
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

// forget drops owners that have held nothing since an instant: they are judged like unknown ones.
func (r *reentry) forget(since int64) {
	maps.DeleteFunc(r.owners, func(_ owning, h *having) bool { return h.till < since })
}
