package waitqueue

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// After a grant that kept others out in vain, this client leaves room for others.
func TestGrantThatIsGivenBackLeavesRoomForOthers(t *testing.T) {
	const kept = time.Second // so the room is a second, too, by the rig's random numbers
	r := newRig(t)
	head := r.waits(lease)
	r.q.Join(r.now, &Waiter{}, true)
	gave := r.tries(&Waiter{OneTry: true})
	r.does(func() { r.q.GivesBack(r.now, kept) })
	if r.handsOff() {
		t.Error("the give-back's message would be ignored")
	}
	r.under("the head does not follow the give-back", gave)
	r.troubled(gave)
	r.leaves(gave)
	r.message()
	as := r.tries(&Waiter{Shared: true})
	hasty := r.tries(&Waiter{Shared: true, Until: r.now + kept/2})
	once := r.tries(&Waiter{OneTry: true})
	r.under("those that can't wait try", hasty, once)
	r.refused(hasty, lease)
	r.refused(once, lease)
	r.leaves(hasty)
	r.goesOn(kept - 1)
	r.under("the others leave room")
	r.goesOn(1)
	r.under("and then try", as, head)
	r.granted(head)
	r.refused(as, lease)
	r.leaves(as)
	r.message()
	r.under("from then on as ever", r.q.waiting.head)
}

// An attempt that was taken back to leave room, or pauses in trouble, leaves room as well.
func TestAttemptsBesideTheQueueLeaveRoomAgain(t *testing.T) {
	const kept = time.Second
	r := newRig(t)
	gave, back, paused := r.tries(&Waiter{Shared: 1}), r.tries(&Waiter{Shared: 2}), r.tries(&Waiter{OneTry: true})
	r.troubled(paused)
	r.does(func() { r.q.GivesBack(r.now, kept) })
	r.unsent(back)
	r.under("it is not made again", gave)
	r.goesOn(clock.FirstPause)
	r.under("nor after a pause", gave)
	r.troubled(gave)
	r.goesOn(kept - clock.FirstPause)
	if len(r.attempts) != 3 {
		t.Fatalf("%d try at last, want all three", len(r.attempts))
	}
	for _, w := range []*Waiter{gave, back, paused} {
		r.granted(w)
	}
	r.quiet()
	if r.q.heldOff != 0 {
		t.Error("the next name leaves room too")
	}
}

// An owner that holds the name does not wait for itself, even while room is left for others.
func TestOwnersWaitersAreLetThroughWhileRoomIsLeft(t *testing.T) {
	r := newRig(t)
	r.waits(lease)
	w := r.tries(&Waiter{Shared: 1})
	r.refused(w, lease)
	r.does(func() { r.q.GivesBack(r.now, 20*ms) })
	r.does(func() { r.q.LetThrough(1) })
	r.under("at once", w)
}
