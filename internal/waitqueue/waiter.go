package waitqueue

import (
	"time"

	"github.com/rlock-go/redisson/internal/background"
)

// Waiter is one call that wants the name. Its maker embeds it in what the call
// is made of and sets the first group of fields before it joins; the queue
// never changes those. The second group is the queue's to set and the maker's
// to read.
type Waiter struct {
	Call   any           // whose it is: handed back with each action, and not looked at
	OneTry bool          // refused is refused: it does not queue
	Shared any           // its owner, if that came from outside, and may hold the name already; else nil
	Until  time.Duration // when its wait elapses; 0: never
	Size   int           // how much it wants, where that differs; 0: it is not known

	Settled bool   // the wait is over
	Told    bool   // an attempt of its own was answered "taken"
	Woken   Source // what its latest attempt was made for
	late    bool   // it came while the queue's attempt was under way at a gate

	joined  time.Duration
	answers int     // the queue's count of answers when it joined
	trouble trouble // of attempts outside the queue

	queued bool          // it stands, or last stood, in the queue, not beside it
	linked bool          // it is in one of the two lists
	trying bool          // an attempt is under way in its name
	place  int32         // among those for whom something is due
	dueAt  time.Duration // when something is due for it outside the queue: an attempt, or the end of its patience; 0: nothing is

	prev, next *Waiter // in its list

	// Of the same owner in the queue: the first one's prev is the last, whose next is nil.
	prevShared, nextShared *Waiter

	// What the caller was not told of yet.
	pending     bool
	nextPending *Waiter
	why         Reason
	err         error
}

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

// trouble is a time without answers.
type trouble struct {
	err   error // the latest
	since time.Duration
	pause time.Duration // before the next attempt
	heard bool          // a server answers, and what it says will pass: nobody gives up for it
}

// add records that an attempt made at since failed with err.
func (t *trouble) add(err error, since time.Duration, heard bool) {
	if t.err == nil || t.heard && !heard {
		t.since, t.pause = since, 0
	}
	t.err, t.heard, t.pause = err, heard, background.NextPause(t.pause)
}

// ends tells whether one who has waited since then, and was never told that the name is
// taken, gives up.
func (t *trouble) ends(now, since, timeout time.Duration) bool {
	return t.err != nil && !t.heard && now-max(t.since, since) >= timeout
}

// list has waiters in order of arrival.
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

// each is all of them, in order. The loop may remove the one that it has.
func (l *list) each(yield func(*Waiter) bool) {
	for w := l.head; w != nil; {
		next := w.next
		if !yield(w) {
			return
		}
		w = next
	}
}

// pendings are waiters that an action is due for, in order.
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

// pop takes the first out, if there is one.
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
