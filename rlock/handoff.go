package rlock

import "time"

const (
	// maxHandOffs bounds how many waiters of this client get the lock one after
	// the other without a moment in which others may. Only another client's
	// attempt between two commands could come in between, and there is no
	// between.
	maxHandOffs = 32

	// Own messages are waited for no longer than this; what comes later may be
	// anybody's release.
	ownMessageWait = 100 * time.Millisecond
)

// handoff is what a queue knows of passing the lock on within this client: the
// head's acquire follows the unlock in the same write, which costs one round
// trip in the place of three. All processes hear of the unlock as ever, and
// find the lock taken.
type handoff struct {
	handOffs         int           // how many in a row
	handedOff        bool          // one has happened since the queue subscribed
	ownMessages      int           // messages that are still to come and say nothing new
	ownMessagesUntil time.Duration // when they are not waited for any more
	handOffDeadline  time.Duration // this client released, and the head tries by then if no message comes; 0: nothing is due
}

// handOff lets the head's acquire follow an unlock that has just been queued.
// Without it the head waits for the message like everybody else. It is called
// with the shard locked, and reports whether the message is of no use to this
// client: the lock was handed on, or nobody waits, and who comes looks anyway.
func (q *waitQueue) handOff() bool {
	w := q.head
	if w == nil && q.unqueued.size > 0 {
		// A try outside the queue may be on its way to a refusal that this
		// unlock comes too late for.
		return false
	}
	if q.current != nil || w != nil && (q.trouble.err != nil || q.handOffs >= maxHandOffs || q.yieldUntil(w) > 0) {
		q.handOffs = 0
		q.handOffDeadline = q.n.c.early() + ownMessageWait
		if q.current == nil {
			q.pollWithin(spreadIntervals)
		}
		q.arm()
		return false
	}
	if q.confirmed {
		q.ownMessages++
		q.ownMessagesUntil = q.n.c.early() + ownMessageWait
	}
	if w != nil {
		q.handOffs++
		q.handedOff = true
		q.attempt(w)
		q.current.handedOff = true
	}
	return true
}

// isOwnMessage tells whether a message is one of this client's own that is no reason
// to look.
func (q *waitQueue) isOwnMessage() bool {
	now := q.n.c.early()
	if share := q.n.fairShare; share != nil {
		share.MessageReceived(now)
	}
	if q.ownMessages == 0 {
		return false
	}
	q.ownMessages--
	return now < q.ownMessagesUntil
}

// resetOwnMessages follows a hand-off of which one half went wrong: the unlock did not
// run at once, or not at all, or the acquire was not granted. Messages count
// again, and one that was taken for an own message is made up for.
func (n *name) resetOwnMessages() {
	if q := n.queue; q != nil {
		if q.ownMessages == 0 {
			q.wakePending = true
		}
		q.ownMessages = 0
	}
}
