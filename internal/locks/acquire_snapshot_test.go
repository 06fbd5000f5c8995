package locks

// waiterSnapshot is what there is of a call that waits at one moment. Tests wait until
// something is under way.
type waiterSnapshot struct {
	attempt   bool  // an attempt is under way
	aside     bool  // and its command went aside
	written   bool  // it may have reached the server
	tries     int   // attempts in its name
	owner     Owner // of the latest
	contended bool  // others had what it wants, or came before it
	taken     bool  // it has taken what nobody owns
	ended     bool  // its wait has ended, and its caller has not come yet
	waiting   int   // callers in its queue, with it; 0: it is in none
	listening bool  // that queue's subscription is confirmed
}

// snapshot tells what there is of w.
func (w *Waiter) snapshot() waiterSnapshot {
	defer w.l.shard.enter(mustNotBlock).leave()
	now := waiterSnapshot{tries: w.tries, owner: w.owner, contended: w.contended, taken: w.taken, ended: len(w.ready) > 0}
	if a := w.attempt; a != nil {
		now.attempt, now.aside, now.written = true, a.req.WentAside, a.unanswered()
	}
	if w.n == nil {
		return now
	}
	if q := w.queue(); q != nil {
		now.waiting, now.listening = q.Len(), q.Listening()
	}
	return now
}
