package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Verb is what the caller has to do.
type Verb uint8

// The verbs are in the order in which Next returns them, if several are due.
const (
	Nothing     Verb = iota // for now
	Attempt                 // send an acquire for Waiter, and report its outcome
	Settle                  // return the result to Waiter's caller: Why and Err
	Unsubscribe             // unsubscribe from the channel
	Subscribe               // subscribe to the channel
	SetTimer                // call Tick at At; replaces an earlier request
	StopTimer               // cancel that request
	Drop                    // the queue has nothing left and may be used for another name
)

// Action is one thing to do.
type Action struct {
	Do     Verb
	Why    Reason        // of Settle
	Waiter *Waiter       // of Attempt and Settle
	At     time.Duration // of SetTimer
	Err    error         // of Settle, if Why says so
}

// Next returns the next action. The caller takes it and asks again until there is
// Nothing. It reports the outcome of an action by further events, even inside this loop,
// which then returns their actions too.
func (q *Queue) Next(now time.Duration) Action {
	for {
		if w := q.pendings.pop(); w != nil {
			switch {
			case w.why == running:
				return Action{Do: Attempt, Waiter: w}
			case w.why != left:
				return Action{Do: Settle, Waiter: w, Why: w.why, Err: w.err}
			}
			continue
		}
		switch asked := &q.asked; {
		case asked.subscribed && !q.subscribed:
			asked.subscribed = false
			return Action{Do: Unsubscribe}
		case !asked.subscribed && q.subscribed:
			asked.subscribed = true
			return Action{Do: Subscribe}
		case asked.timerAt != q.timerAt:
			if asked.timerAt = q.timerAt; q.timerAt == 0 {
				return Action{Do: StopTimer}
			}
			return Action{Do: SetTimer, At: q.timerAt}
		case q.changed:
			q.changed, q.drop = false, false
			q.decide(now)
		case q.drop:
			q.drop = false
			return Action{Do: Drop}
		default:
			return Action{}
		}
	}
}

// decide starts the head's attempt if it is due, or sets the timer for it.
func (q *Queue) decide(now time.Duration) {
	q.roomLeft(now)
	if q.policy.resubscribeAt > 0 && q.waiting.size > 0 {
		q.subscribe(now) // if it is time
	}
	switch w := q.candidate(); {
	case q.leading != nil:
	case w == nil:
		q.emptied(now)
		return
	case q.leavesRoom(w) > 0, q.wakes == 0 && now < q.attemptBy():
		q.unsubscribeAt = 0
	default:
		q.unsubscribeAt = 0
		if q.notBefore = q.policy.NotBefore(now, q.head()); q.notBefore > 0 {
			q.wake(kind.All)
			q.subscribe(now)
			break
		}
		q.handOffs = 0
		q.lead(w, false)
	}
	q.setTimer(now)
}

// unsubscribeDelay is how long an empty queue stays subscribed if it handed the lock on
// within this client. A caller that has just released often comes back.
const unsubscribeDelay = 50 * time.Millisecond

// emptied is called while no waiter is in the queue.
func (q *Queue) emptied(now time.Duration) {
	if q.subscribed && q.handedOff && !q.closed {
		if q.unsubscribeAt == 0 {
			q.unsubscribeAt = now + unsubscribeDelay
			q.trouble = trouble{}
		}
		if now < q.unsubscribeAt {
			q.setTimer(now)
			return
		}
	}
	q.reset()
	q.setTimer(now)
	if q.drop = q.unqueued.size == 0; q.drop {
		q.heldOff = 0
	}
}

// reset clears a queue without waiters (P1, E2).
func (q *Queue) reset() {
	q.subscribed, q.confirmed = false, false
	q.wakes, q.heard, q.current = 0, false, wakeUp{}
	q.policy.throttle = throttle{}
	q.taken, q.expiryDeadline, q.notBefore, q.unsubscribeAt = false, 0, 0, 0
	q.handOff = handOff{}
	q.trouble, q.unfailed = trouble{}, nil
}
