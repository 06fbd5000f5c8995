package waitqueue

import (
	"cmp"

	"github.com/rlock-go/redisson/internal/kind"
)

// wake asks for n attempts, but for no more than there can be owners. Where one owner has the
// name at a time, ten wake-ups are one (P3).
func (q *Queue) wake(n int) { q.wakes = min(q.wakes+min(n, kind.All), cmp.Or(q.rules.Width, kind.All)) }

// candidate is the waiter that tries next.
func (q *Queue) candidate() *Waiter {
	if q.current.next != nil {
		return q.current.next
	}
	return q.waiting.head
}

// head is the candidate as the policy sees it.
func (q *Queue) head() Head {
	w := q.candidate()
	return Head{Shared: w.Shared != nil, Refused: q.wasRefused(w), Until: w.Until}
}

// use takes w's attempt off the wake-up. Without a pending wake-up it assumes
// that the name is free, and allows as many attempts as there is room for.
func (q *Queue) use(w *Waiter) {
	if q.wakes == 0 {
		q.wake(kind.All)
	}
	q.current = wakeUp{left: q.wakes - 1, source: w.Woken}
	if q.rules.PassOn {
		q.current.next = w.next
	}
	q.wakes = 0
}

// afterGrant continues the wake-up behind the waiter that was granted. If another wake-up
// came meanwhile, it starts again with the head. Where any number of owners may have the
// name and all want the same, the others try together, as many as the wake-up is good
// for.
func (q *Queue) afterGrant() {
	switch {
	case q.wakes > 0 || q.current.left == 0:
		q.current.next = nil
	case q.rules.PassOn && q.current.next == nil:
		return // the others were refused just before
	case q.rules.Width == 0 && !q.rules.PassOn:
		q.tryTogether(q.current.left)
		return
	}
	q.wake(q.current.left)
}

// tryTogether makes attempts for the first n waiters.
func (q *Queue) tryTogether(n int) {
	for w := range q.waiting.each {
		if n == 0 {
			return
		}
		n--
		w.Woken = q.current.source
		q.takeOut(w)
		q.tryLater(w)
	}
}

// afterRefusal drops the wake-up: a waiter behind w would be refused as well, unless it
// may want less.
func (q *Queue) afterRefusal(w *Waiter) {
	for next := q.current.next; next != nil && next.Size > 0 && next.Size >= w.Size; next = q.current.next {
		q.current.next = next.next
	}
	if q.wakes > 0 {
		q.current.next = nil
	} else if q.current.next != nil {
		q.wake(q.current.left + 1)
	}
}

// afterLeave lets the queue look after w, its head, has given up, where waiters may want less than
// w was refused. Those that came after the refusal were not tried.
func (q *Queue) afterLeave(w *Waiter) {
	if next := q.waiting.head; q.rules.PassOn && q.leading != w && next != nil && (next.Size == 0 || next.Size < w.Size) {
		q.wake(kind.All)
	}
}

// enqueue puts w at the end of the queue.
func (q *Queue) enqueue(w *Waiter) {
	w.queued, w.answers = true, q.answers
	w.late = q.rules.Gate && q.leading != nil
	q.waiting.push(w)
	if w.Shared != nil {
		q.shared.add(w)
	}
	if q.rules.PassOn && q.leading != nil && q.current.next == nil {
		q.current.next = w // behind the waiter that tries
	}
	q.changed = true
}

// unqueue takes w, which waits in the queue, out of it.
func (q *Queue) unqueue(w *Waiter) {
	if q.current.next == w {
		q.current.next = w.next
	}
	if q.unfailed == w {
		q.unfailed = w.next
	}
	q.waiting.remove(w)
	if w.Shared != nil {
		q.shared.remove(w)
	}
}
