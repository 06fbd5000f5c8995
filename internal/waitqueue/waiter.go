package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// Waiter is one call that wants the name. Its maker embeds it in the call's state and
// sets the first group of fields before the waiter joins; the queue never changes those.
// The queue sets the second group, and the maker may read it.
type Waiter struct {
	Call   any           // the maker's call: returned with each action, not used otherwise
	OneTry bool          // it does not queue after a refusal
	Shared any           // its owner, if the caller gave it and it may hold the name already; else nil
	Until  time.Duration // when its wait elapses; 0: never
	Size   int           // how much it wants, where that differs; 0: unknown

	Settled bool   // the wait is over
	Refused bool   // its attempt was answered "taken"
	Woken   Source // source of its latest attempt
	late    bool   // it came while the queue's attempt at a gate was in flight

	joined  time.Duration
	answers int     // the queue's count of answers when it joined
	trouble trouble // of attempts outside the queue

	queued bool          // it is in the queue, or last was, and not unqueued
	linked bool          // it is in one of the two lists
	trying bool          // an attempt in its name is in flight
	place  int32         // in dues
	dueAt  time.Duration // when its next attempt or the end of its patience is due outside the queue; 0: nothing is

	prev, next *Waiter // in its list

	// Waiters of the same owner in the queue: prevShared of the first is the last, whose
	// nextShared is nil.
	prevShared, nextShared *Waiter

	// for the action that was not handed out yet
	pending     bool
	nextPending *Waiter
	why         Reason
	err         error
}

// Reason is how a wait ended.
type Reason uint8

// How a wait ends:
const (
	running     Reason = iota // not ended
	Granted                   // the lock is the waiter's
	Refused                   // its only attempt found the lock taken
	Failed                    // Err came with the event that ended it
	Unreachable               // the server never answered, and trouble lasted longer than its patience; Err is the latest
	left                      // its caller gave up and needs no result
)

// trouble is a time in which attempts fail.
type trouble struct {
	err   error // the latest
	since time.Duration
	pause time.Duration // before the next attempt
	heard bool          // a server answers with an error that will pass: no waiter fails because of it
}

// add records that an attempt made at since failed with err.
func (t *trouble) add(err error, since time.Duration, heard bool) {
	if t.err == nil || t.heard && !heard {
		t.since, t.pause = since, 0
	}
	t.err, t.heard, t.pause = err, heard, clock.NextPause(t.pause)
}

// ends reports whether a waiter that has waited since then, and never had the answer
// "taken", fails now.
func (t *trouble) ends(now, since, timeout time.Duration) bool {
	return t.err != nil && !t.heard && now-max(t.since, since) >= timeout
}

// list is waiters in order of arrival.
type list struct {
	head, tail *Waiter
	size       int
}

func (l *list) push(w *Waiter) {
	w.linked, w.prev, w.next = true, l.tail, nil
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
	l.size++
}

// remove takes w, which is in the list, out of it.
func (l *list) remove(w *Waiter) {
	if w.prev == nil {
		l.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.linked, w.prev, w.next = false, nil, nil
	l.size--
}

// each yields all of them, in order. The loop may remove the current one.
func (l *list) each(yield func(*Waiter) bool) {
	for w := l.head; w != nil; {
		next := w.next
		if !yield(w) {
			return
		}
		w = next
	}
}

// pendings are waiters for which an action is due, in order.
type pendings struct{ head, tail *Waiter }

// push adds w, unless it is among them already.
func (p *pendings) push(w *Waiter) {
	if w.pending {
		return
	}
	w.pending, w.nextPending = true, nil
	if p.tail == nil {
		p.head, p.tail = w, w
	} else {
		p.tail.nextPending, p.tail = w, w
	}
}

// pop takes out the first, or returns nil.
func (p *pendings) pop() *Waiter {
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
