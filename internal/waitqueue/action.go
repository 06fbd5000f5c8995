package waitqueue

import "time"

// Verb is what the caller has to do.
type Verb uint8

// In the order in which they are handed out, where several are due.
const (
	Nothing     Verb = iota // for now
	Attempt                 // send an acquire for Waiter, and report what became of it
	Settle                  // tell Waiter's caller how its wait ended: Why and Err
	Unsubscribe             // leave the channel
	Subscribe               // listen on the channel
	SetTimer                // call Tick at At, instead of when was asked before
	StopTimer               // call it no more
	Drop                    // nothing is left: the queue may be used for another name
)

// Reason is how a wait ended.
type Reason uint8

// How a wait ends.
const (
	running     Reason = iota // it has not
	Granted                   // the lock is the waiter's
	Refused                   // its only attempt found the lock taken
	Failed                    // Err was given with the event that ended it
	Unreachable               // Err is trouble that lasted longer than its patience with a server that never answered
	left                      // its caller went, and needs no telling
)

// Action is one thing to do.
type Action struct {
	Do     Verb          // what
	Why    Reason        // of Settle
	Waiter *Waiter       // of Attempt and Settle
	At     time.Duration // of SetTimer
	Err    error         // of Settle, where Why says so
}

// Next gives the next action that what has happened asks for. The caller takes
// it and asks again until there is Nothing. Events that come of an action are
// reported at once, and what they ask for is found by the same loop.
func (q *Queue) Next(now time.Duration) Action {
	for {
		if w := q.popPending(); w != nil {
			switch {
			case w.why == running:
				return Action{Do: Attempt, Waiter: w}
			case w.why != left:
				return Action{Do: Settle, Waiter: w, Why: w.why, Err: w.err}
			}
			continue
		}
		if a := q.popTodo(); a.Do != Nothing {
			return a
		}
		switch {
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

// todo is what the queue wants of its caller, once each.
type todo struct {
	unsubscribe, subscribe, setTimer, stopTimer bool
}

func (q *Queue) popTodo() (a Action) {
	switch t := &q.todo; {
	case t.unsubscribe:
		t.unsubscribe, a.Do = false, Unsubscribe
	case t.subscribe:
		t.subscribe, a.Do = false, Subscribe
	case t.setTimer:
		t.setTimer, a.Do, a.At = false, SetTimer, q.timerAt
	case t.stopTimer:
		t.stopTimer, a.Do = false, StopTimer
	}
	return a
}

// pendings are waiters that an action is due for, in order.
type pendings struct{ head, tail *Waiter }

// pushPending sees to it that w is looked at by Next.
func (q *Queue) pushPending(w *Waiter) {
	if w.pending {
		return
	}
	w.pending, w.nextPending = true, nil
	if p := &q.pendings; p.tail == nil {
		p.head, p.tail = w, w
	} else {
		p.tail.nextPending, p.tail = w, w
	}
}

func (q *Queue) popPending() *Waiter {
	p := &q.pendings
	w := p.head
	if w == nil {
		return nil
	}
	if p.head = w.nextPending; p.head == nil {
		p.tail = nil
	}
	w.pending, w.nextPending = false, nil
	return w
}

// try has an attempt made for w.
func (q *Queue) try(w *Waiter) {
	w.trying, w.retryAt = true, 0
	q.pushPending(w)
}

// settle ends a wait.
func (q *Queue) settle(w *Waiter, why Reason, err error) {
	if w.Settled {
		return
	}
	w.Settled, w.why, w.err = true, why, err
	if w.linked {
		if w.queued {
			q.unqueue(w)
		} else {
			q.unqueued.remove(w)
		}
	}
	if w.pending {
		// Its attempt was not taken up yet, and never will be.
		q.unsent(w)
	}
	q.pushPending(w)
	q.changed = true
}
