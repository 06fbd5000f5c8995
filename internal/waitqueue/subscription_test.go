package waitqueue

import (
	"errors"
	"testing"
)

func TestResubscriptionMakesTheHeadTry(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	for range 3 {
		r.confirmed()
		r.under("confirmed again", w)
		r.refused(w, lease)
	}
	if r.subs != 1 {
		t.Errorf("%d subscriptions", r.subs)
	}
}

func TestHeadLooksSoonWhenItsSubscriptionIsLost(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.does(func() { r.q.Unconfirmed(r.now + 900*ms) })
	r.goesOn(899 * ms)
	r.under("it is not time")
	r.goesOn(ms)
	r.under("nobody would have told it", w)
	if w.Woken != Look {
		t.Errorf("it looked for %v", w.Woken)
	}
	r.refused(w, 800*ms) // the delay while the queue does not listen
	r.confirmed()
	r.under("confirmed", w)
	r.refused(w, lease)
	r.goesOn(lease - 1)
	r.under("it listens")
}

func TestRefusedSubscriptionEndsTheWaits(t *testing.T) {
	r := newRig(t)
	ws := r.joins(3)
	r.refused(ws[0], lease)
	r.confirmed()
	beside := r.tries(&Waiter{OneTry: true})
	refusal := errors.New("NOPERM")
	r.does(func() { r.q.SubscriptionRefused(refusal) })
	for _, w := range ws {
		r.is(w, Failed, refusal)
	}
	r.is(beside, running, nil)
	if r.subscribed {
		t.Error("it is still subscribed")
	}
	r.granted(beside)
	r.refused(ws[0], lease) // its attempt was still under way
	r.quiet()
}

func TestQueueThatNeverHandedOnUnsubscribesAtOnce(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.message()
	r.granted(w)
	r.quiet()
}

func TestQueueThatHandsOnStaysSubscribedForAWhile(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.granted(w)
	r.goesOn(unsubscribeDelay - 1)
	if !r.subscribed || r.dropped {
		t.Fatal("it left the channel early")
	}
	next := r.joins(1)[0]
	r.granted(next)
	r.goesOn(unsubscribeDelay - 1)
	if r.subs != 1 || !r.subscribed {
		t.Fatalf("who came back subscribed anew: %d times", r.subs)
	}
	r.goesOn(1)
	r.quiet()
}

func TestClosedQueueUnsubscribesAtOnce(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.granted(w)
	r.does(r.q.Close)
	r.quiet()
}

// crowded gives the queue a name with many subscribers, and makes releases follow each other quickly until the queue
// leaves the channel and polls.
func crowded(r *rig) *Waiter {
	r.t.Helper()
	share := new(FairShare)
	share.SetClients(100)
	r.q.Use(share)
	w := r.waits(lease)
	for range 200 {
		r.messageAfter(100 * us)
		for len(r.attempts) > 0 {
			r.refused(r.attempts[0], lease)
		}
		if !r.subscribed {
			return w
		}
	}
	r.t.Fatal("it stays on the channel")
	return nil
}

func TestCrowdedChannelIsLeftForAWhile(t *testing.T) {
	r := newRig(t)
	w := crowded(r)
	left, polls := r.now, 0
	for !r.subscribed && r.now < left+100*ms {
		r.goesOn(100 * us)
		for len(r.attempts) > 0 && !r.subscribed {
			polls++
			r.refused(w, lease)
		}
	}
	if !r.subscribed {
		t.Fatal("it does not come back")
	}
	if away := r.now - left; away < 20*ms || polls < 5 {
		t.Errorf("it was away for %v and tried %d times", away, polls)
	}
}

func TestQueueComesBackToItsChannelWhileAnAttemptIsUnderWay(t *testing.T) {
	r := newRig(t)
	w := crowded(r)
	r.goesOn(10 * ms)
	r.under("by the clock", w)
	r.goesOn(30 * ms)
	if !r.subscribed {
		t.Error("it does not come back")
	}
}

// A waiter that leaves such a queue leaves no timer behind that would subscribe again.
func TestWaiterThatLeavesWhileOffTheChannelLeavesNothing(t *testing.T) {
	r := newRig(t)
	w := crowded(r)
	for len(r.attempts) > 0 {
		r.refused(w, lease)
	}
	r.leaves(w)
	r.quiet()
}

// Off the channel, only the timer can find a release that this client did not hand on.
func TestQueueOffItsChannelTriesSoonAfterAReleaseThatIsNotHandedOn(t *testing.T) {
	r := newRig(t)
	w := crowded(r)
	for len(r.attempts) > 0 {
		r.refused(w, lease)
	}
	r.q.handOffs = maxHandOffs
	if r.handsOff() {
		t.Fatal("handed on")
	}
	r.goesOn(6 * ms)
	r.under("soon", w)
}
