package waitqueue

import (
	"slices"
	"testing"
)

// withoutTheRest cuts the list behind its first waiter, so that a search through the list finds no other.
func (l *list) withoutTheRest(do func()) {
	first := l.head
	second := first.next
	first.next = nil
	do()
	if first.next == nil && second != nil && second.prev == first {
		first.next = second
	}
}

// If a hand-off looked at all waiters, its time would grow with the crowd.
func TestOwnersWaitersAreFoundAmongACrowdInAFewSteps(t *testing.T) {
	const owners, each = 200, 3
	r := newRig(t)
	r.waits(lease)
	var crowd [owners][]*Waiter
	for i := range owners * each {
		w := r.tries(&Waiter{Shared: i % owners})
		r.refused(w, lease)
		crowd[i%owners] = append(crowd[i%owners], w)
	}
	for i := range each { // the first, the middle and the last of an owner
		r.leaves(crowd[i][i])
		crowd[i] = slices.Delete(crowd[i], i, i+1)
	}
	left := r.q.Len()
	for owner, ws := range crowd {
		r.q.waiting.withoutTheRest(func() {
			r.does(func() { r.q.LetThrough(owner) })
		})
		r.under("those of the owner, in order", ws...)
		for _, w := range ws {
			r.granted(w)
		}
		if left -= len(ws); r.q.Len() != left {
			t.Fatalf("%d are left in the queue, want %d", r.q.Len(), left)
		}
	}
	if r.q.Shares() {
		t.Error("an owner is left")
	}
}

func TestPausesOfACrowdEndWithoutALookAtTheOthers(t *testing.T) {
	const crowd = 200
	r := newRig(t)
	var ws []*Waiter
	for range crowd {
		ws = append(ws, r.tries(&Waiter{OneTry: true}))
	}
	slices.Reverse(ws) // the first to join is the last to fail
	for i, w := range ws {
		r.troubled(w)
		r.now += ms / 20 // 10 ms in all, and no pause has ended
		if i%10 == 3 {
			r.leaves(w)
		}
	}
	for i, w := range ws {
		if i%10 == 3 {
			continue
		}
		r.q.unqueued.withoutTheRest(func() { r.goesOn(r.timer - r.now) })
		r.under("the one whose pause has ended", w)
		r.granted(w)
	}
	r.quiet()
}

// Work that is due for a crowd at one instant is done in parts. Each part is an event.
func TestTimerDealsWithACrowdInParts(t *testing.T) {
	const crowd = 10 * atOnce
	r := newRig(t)
	parts := func(what string, count func() int) {
		t.Helper()
		ticks := 0
		for before := count(); before < crowd; ticks++ {
			if r.timer > r.now && ticks > 0 {
				t.Fatalf("%s: the next part, after %d, is not due at once", what, before)
			}
			r.now, r.timer = max(r.timer, r.now), 0
			r.does(func() { r.q.Tick(r.now) })
			if after := count(); after > before+atOnce {
				t.Fatalf("%s: %d at once", what, after-before)
			} else {
				before = after
			}
		}
		if ticks < crowd/atOnce || ticks > crowd/atOnce+5 {
			t.Errorf("%s: in %d parts", what, ticks)
		}
	}
	ended := func() int { return len(r.ended) }

	var ws []*Waiter
	for range crowd {
		ws = append(ws, r.tries(&Waiter{OneTry: true}))
	}
	for _, w := range ws {
		r.troubled(w)
	}
	parts("attempts beside the queue", func() int { return len(r.attempts) })
	for _, w := range ws {
		r.opens(w)
	}
	r.now += timeout
	parts("ends of what was never answered beside the queue", ended)
	for _, w := range ws {
		r.is(w, Unreachable, errNet)
		r.resolves(w)
	}
	r.quiet()

	r = newRig(t)
	told := r.waits(lease)
	toldToo := r.joins(3 * atOnce)
	r.message()
	r.refused(told, lease)
	ws = r.joins(crowd)
	r.message()
	r.opens(told)
	r.now += timeout
	parts("ends of what was never answered in the queue", ended)
	for _, w := range ws {
		r.is(w, Unreachable, errNet)
	}
	r.is(toldToo[0], running, nil)
	r.resolves(told)
}
