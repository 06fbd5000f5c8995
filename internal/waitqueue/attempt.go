package waitqueue

// lead makes the queue's attempt for w, the candidate.
func (q *Queue) lead(w *Waiter, handedOn bool) {
	switch w.Woken = Look; {
	case handedOn:
		w.Woken = Passed
	case q.heard:
		w.Woken = Heard
	case q.wakes == 0 && q.handOffDeadline == 0 && q.trouble.err == nil && (q.confirmed || q.rules.Silent):
		w.Woken = Expiry
	}
	q.heard = false
	q.use(w)
	q.notBefore, q.handOffDeadline = 0, 0
	q.policy.delayedUntil = 0
	q.leading, q.handedOn = w, handedOn
	if q.rules.Gate {
		for waiting := range q.waiting.each {
			waiting.late = false
		}
	}
	q.try(w)
}

// try starts an attempt for w.
func (q *Queue) try(w *Waiter) {
	w.trying = true
	q.dues.set(w, 0)
	q.pendings.push(w)
}

// takeOut moves w out of the queue, so that it makes its next attempt unqueued.
func (q *Queue) takeOut(w *Waiter) {
	w.Refused = q.wasRefused(w)
	q.unqueue(w)
	w.queued = false
	q.unqueued.push(w)
	q.changed = true
}

// retry makes another attempt for w if it is unqueued.
func (q *Queue) retry(w *Waiter) {
	if w.linked && !w.queued && !w.trying {
		q.tryLater(w)
	}
}

// end ends w's attempt. It reports whether the attempt was the queue's, and whether it
// followed an unlock.
func (q *Queue) end(w *Waiter) (led, handedOn bool) {
	w.trying = false
	q.dues.set(w, 0)
	q.changed = true
	if q.leading != w {
		return false, false
	}
	handedOn = q.handedOn
	q.leading, q.handedOn = nil, false
	return true, handedOn
}

// unsent ends w's attempt, which had no effect, and passes its wake-up on.
func (q *Queue) unsent(w *Waiter) {
	if led, _ := q.end(w); led {
		q.wake(q.current.left + 1) // the next head looks itself
		q.current = wakeUp{}
	}
}

// settle ends a wait.
func (q *Queue) settle(w *Waiter, why Reason, err error) {
	if w.Settled {
		return
	}
	w.Settled, w.why, w.err = true, why, err
	q.dues.set(w, 0)
	if w.linked {
		if w.queued {
			first := q.waiting.head == w
			q.unqueue(w)
			if first && why != Granted {
				q.afterLeave(w)
			}
		} else {
			q.unqueued.remove(w)
		}
	}
	if w.pending {
		// Its attempt was not handed out yet, and never will be.
		q.unsent(w)
	}
	q.pendings.push(w)
	q.changed = true
}
