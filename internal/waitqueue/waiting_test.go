package waitqueue

import (
	"slices"
	"testing"
	"time"
)

func TestUncontendedAcquireIsOneAttemptAndNothingElse(t *testing.T) {
	r := newRig(t)
	w := r.joins(1)[0]
	r.under("a queue that forms", w)
	r.granted(w)
	r.is(w, Granted, nil)
	r.quiet()
	if r.subs > 0 {
		t.Error("it subscribed")
	}
}

// The waiter tries, subscribes, tries again when that is confirmed, and then waits.
func TestRefusedWaiterSubscribesAndTriesAgainWhenThatIsConfirmed(t *testing.T) {
	r := newRig(t)
	w := r.joins(1)[0]
	r.refused(w, lease)
	r.under("refused, and not confirmed yet")
	if !r.subscribed {
		t.Fatal("it did not subscribe")
	}
	r.confirmed()
	r.under("confirmed", w)
	r.refused(w, lease)
	r.under("refused again")
	if r.timer != r.now+lease {
		t.Errorf("it looks %v from now, the lease ends after %v", r.timer-r.now, lease)
	}
}

func TestMessageMakesTheHeadTry(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	others := r.joins(3)
	r.under("others came")
	r.message()
	r.under("a message", w)
	r.message()
	r.message()
	r.under("messages during a try", w)
	r.granted(w)
	r.under("one message is kept for the next", others[0])
	r.refused(others[0], lease)
	r.under("it was a flag, not a queue")
}

func TestWaitersEnterInOrder(t *testing.T) {
	r := newRig(t)
	ws := append([]*Waiter{r.waits(lease)}, r.joins(5)...)
	for _, w := range ws {
		r.message()
		r.under("a message", w)
		r.granted(w)
	}
	r.quiet()
}

func TestWaiterEntersWhenLeaseExpires(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.goesOn(lease - 1)
	r.under("the lease has not ended")
	r.goesOn(1)
	r.under("the lease has ended", w)
}

func TestNoWaitIsShorterThanAMillisecondOrLongerThanAMinute(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		0: ms, 1: ms, ms: ms, 2 * ms: 2 * ms, time.Minute: time.Minute,
		time.Minute + 1: time.Minute, 1<<63 - 1: time.Minute, -1: time.Minute, -ms: time.Minute, -2 * ms: time.Minute,
	} {
		r := newRig(t)
		w := r.waits(ttl)
		began := r.now
		for len(r.attempts) == 0 && r.now < began+time.Hour {
			r.goesOn(us)
			if r.timer > 0 && len(r.attempts) == 0 {
				r.goesOn(r.timer - r.now)
			}
		}
		if got := r.now - began; got < want || got > want+us {
			t.Errorf("PTTL %d: the head tries after %v, want %v", ttl, got, want)
		}
		r.under("the wait is over", w)
	}
}

func TestMessageDuringTheHeadsTryOutlivesTheHead(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.message()
	r.message()
	r.leaves(first)
	r.under("the one that left", first)
	r.refused(first, lease)
	r.under("its second message", second)
}

func TestHeadThatGivesUpHandsItsWakeUpOn(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.message()
	r.under("a message", first)
	// The command is taken back before it is written.
	r.leaves(first)
	r.unsent(first)
	r.under("the next head", second)
	if _, told := r.ended[first]; told || !first.Settled {
		t.Error("who left by itself is told so")
	}
}

func TestWakeUpIsNotLostWithAHeadThatWaitsForItsTurn(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.ahead()
	r.message()
	r.under("it steps back")
	r.leaves(first)
	r.goesOn(10 * ms)
	r.under("the next head", second)
}

// A waiter has left, but its command is on its way. The answer counts for the whole queue.
func TestNobodyElseTriesWhileTheLeaversAttemptIsUnderWay(t *testing.T) {
	r := newRig(t)
	ws := r.joins(3)
	r.leaves(ws[0])
	r.message()
	r.under("the leaver's", ws[0])
	if r.dropped {
		t.Fatal("the queue is given up")
	}
	r.granted(ws[0]) // the caller gives it back and says so
	r.under("the message", ws[1])
	if _, told := r.ended[ws[0]]; told {
		t.Error("the leaver is told of a grant")
	}
}

func TestLastWaiterThatLeavesLeavesNothing(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.leaves(w)
	r.quiet()
	r.does(func() { r.q.Tick(r.now) })
	if r.timer != 0 {
		t.Error("a tick that was on its way set the timer")
	}
}

func TestGrantTellsAllWhoWaitThatItIsTaken(t *testing.T) {
	r := newRig(t)
	ws := r.joins(3)
	r.granted(ws[0])
	late := r.joins(1)[0]
	for _, w := range ws[1:] {
		if !r.q.Facts(w).Refused {
			t.Error("one who waited was not told")
		}
	}
	if f := r.q.Facts(late); f.Refused || !f.Known {
		t.Errorf("who came after the answer: %+v", f)
	}
	if !r.subscribed {
		t.Error("they did not subscribe")
	}
}

// The queue lives on for a moment after the last grant. After a release its last answer says nothing to a new caller.
func TestNameIsNotKnownToBeTakenAfterItsRelease(t *testing.T) {
	for what, release := range map[string]func(*rig){
		"handed on to nobody":       func(r *rig) { r.handsOff() },
		"told by a message":         func(r *rig) { r.message(); r.message() }, // the first is the hand-off's own message
		"without a message to come": func(r *rig) { r.does(r.q.WakeHead) },
	} {
		r := newRig(t)
		first := r.waits(lease)
		r.handsOff()
		r.granted(first)
		if held := r.joins(1)[0]; !r.q.Facts(held).Known {
			t.Fatalf("%s: not known to be taken before", what)
		} else {
			r.leaves(held)
		}
		release(r)
		if late := r.joins(1)[0]; r.q.Facts(late).Known || r.q.Facts(late).Refused {
			t.Errorf("%s: %+v", what, r.q.Facts(late))
		}
	}
}

// The queue has emptied but is still subscribed, while another owner of this client holds.
func TestCallerBehindAHoldOfThisClientWaitsForItsEnd(t *testing.T) {
	for _, held := range []bool{true, false} {
		r := newRig(t)
		first := r.waits(lease)
		r.joins(1)
		r.handsOff()
		r.granted(first)
		for w := range r.q.Waiting() {
			r.leaves(w)
		}
		w := new(Waiter)
		r.does(func() { r.q.Join(r.now, w, held) })
		if tries := len(r.attempts) > 0; tries == held || r.q.Facts(w).Refused != held {
			t.Errorf("held %v: tries at once %v, told %v", held, tries, r.q.Facts(w).Refused)
		}
	}
}

// The last known lease has ended: whatever this client believes to hold, the caller tries, and is not told.
func TestCallerBehindAHoldThatIsOverdueTriesAtOnce(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.answered(w)
	r.does(func() { r.q.Granted(r.now, w, 10*ms) })
	r.now += 20 * ms
	next := new(Waiter)
	r.does(func() { r.q.Join(r.now, next, true) })
	r.under("at once", next)
	if r.q.Facts(next).Refused {
		t.Error("it counts as told")
	}
}

// A wake-up came while nobody waited, so the newcomer gets it.
func TestCallerTakesOverAWakeUpThatIsPending(t *testing.T) {
	r := newRig(t)
	first := r.waits(lease)
	share := r.ahead()
	r.handsOff() // the head steps back
	share.Released(r.now, true)
	r.message()
	next := new(Waiter)
	r.does(func() {
		r.q.handedOff = true
		r.q.Leave(first)
		r.q.Join(r.now, next, true)
	})
	if r.q.Facts(next).Refused {
		t.Error("it counts as told")
	}
	r.goesOn(20 * ms)
	r.under("soon", next)
}

// When a waiter behind a hold of this client leaves, the unsubscribe delay begins again.
func TestUnsubscribeDelayBeginsWithTheLastThatLeft(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.granted(w)
	behind := new(Waiter)
	r.does(func() { r.q.Join(r.now, behind, true) })
	r.goesOn(2 * unsubscribeDelay)
	r.leaves(behind)
	r.goesOn(unsubscribeDelay - 1)
	if !r.subscribed {
		t.Error("it left the channel early")
	}
	r.goesOn(1)
	r.quiet()
}

func TestReentryAndTryLockPassTheQueue(t *testing.T) {
	r := newRig(t)
	r.waits(lease)
	r.joins(2)
	once, as := r.tries(&Waiter{OneTry: true}), r.tries(&Waiter{Shared: true})
	r.under("both at once", once, as)
	r.granted(as)
	r.refused(once, lease)
	r.is(as, Granted, nil)
	r.is(once, Refused, nil)
	r.under("and nothing more")
	if r.q.Len() != 3 {
		t.Errorf("%d wait", r.q.Len())
	}
}

func TestOnlyARefusedReentryQueues(t *testing.T) {
	r := newRig(t)
	as := r.tries(&Waiter{Shared: true})
	r.refused(as, lease)
	if !r.subscribed || r.q.Len() != 1 || !as.Refused || !r.q.Shares() {
		t.Fatalf("subscribed %v, %d wait", r.subscribed, r.q.Len())
	}
	r.confirmed()
	r.under("it leads the queue", as)
	behind := r.tries(&Waiter{Shared: true})
	r.refused(behind, lease)
	r.under("it waits behind", as)
	if got := slices.Collect(r.q.Waiting()); !slices.Equal(got, []*Waiter{as, behind}) {
		t.Errorf("%d wait, or in another order", len(got))
	}
}

func TestOwnerThatComesToHoldLetsItsWaitersThrough(t *testing.T) {
	r := newRig(t)
	first := r.waits(lease)
	as := &Waiter{Shared: true}
	r.tries(as)
	r.refused(as, lease)
	r.does(func() { r.q.LetThrough(true) })
	r.under("it tries at once", as)
	r.does(func() { r.q.LetThrough(true) }) // has no further effect
	if r.q.Len() != 1 || r.q.Shares() {
		t.Errorf("%d wait", r.q.Len())
	}
	r.granted(as)
	r.under("nobody else does")
	r.message()
	r.under("the queue goes on", first)
	r.does(func() { r.q.LetThrough(nil) })
	if r.q.Len() != 1 {
		t.Error("one that has an owner of its own was let through")
	}
	r.leaves(first)

	r = newRig(t)
	as = r.tries(&Waiter{Shared: true})
	r.refused(as, lease)
	r.confirmed()
	r.under("it leads", as)
	r.does(func() { r.q.LetThrough(true) })
	if r.q.Len() != 1 {
		t.Error("one whose attempt is under way was let through")
	}
}

// A grant was given back at once because a forced unlock had hit it. The waiter tries again at once.
func TestGrantThatIsGoneIsTriedForAgain(t *testing.T) {
	r := newRig(t)
	w := r.joins(1)[0]
	r.unsent(w)
	r.under("in the queue", w)
	r = newRig(t)
	w = r.tries(&Waiter{Shared: true})
	r.unsent(w)
	r.under("beside it", w)
	r.leaves(w)
	r.unsent(w)
	r.quiet()
}

func TestWaitersWithoutASubscriptionHearOfWhatIsGivenBack(t *testing.T) {
	r := newRig(t)
	w := r.joins(1)[0]
	r.refused(w, lease)
	r.does(r.q.GivenBack)
	r.under("not confirmed", w)
	r.refused(w, lease)
	r.confirmed()
	r.refused(w, lease)
	r.does(r.q.GivenBack)
	r.under("the message will tell")
}

func TestLostHoldWakesTheHead(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.does(r.q.WakeHead)
	r.under("nobody will unlock", w)
	r.granted(w)
	r.does(r.q.WakeHead)
	if r.q.wakes > 0 {
		t.Error("a wake-up of nobody is kept")
	}
}
