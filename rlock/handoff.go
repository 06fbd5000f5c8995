package rlock

import "time"

const (
	// maxHandOffs bounds how many waiters of this client get the lock one after
	// the other. In between no other client can acquire it, since unlock and
	// acquire are one write.
	maxHandOffs = 32

	// An own message is expected for no longer than this. One that comes later
	// may be any client's release.
	ownMessageWait = 100 * time.Millisecond
)

// handoff is the state of passing the lock on within this client. The head's
// acquire follows the unlock in the same write, which costs one round trip
// instead of three. All processes receive the message of the unlock as ever,
// and find the lock taken.
type handoff struct {
	handOffs         int           // in a row
	handedOff        bool          // one has happened since the queue subscribed
	ownMessages      int           // expected messages of this client's own unlocks
	ownMessagesUntil time.Duration // not expected later than this
	handOffDeadline  time.Duration // this client released: the head's next attempt, if no message comes before; 0: none
}

// handOff queues the head's acquire behind an unlock that has just been queued.
// Otherwise the head waits for the message. It is called with the shard locked.
// It reports whether the message is of no use to this client, because the lock
// was handed on or because nobody waits.
func (q *waitQueue) handOff() bool {
	w := q.head
	if w == nil && q.unqueued.size > 0 {
		// An unqueued attempt may be refused before this unlock runs.
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

// isOwnMessage tells whether a message is this client's own and needs no
// attempt.
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

// resetOwnMessages is called when a hand-off failed in part: the unlock did not
// run at once, or not at all, or the acquire was not granted. From then on
// every message counts. If one was already taken for an own message, a wake-up
// makes up for it.
func (n *name) resetOwnMessages() {
	if q := n.queue; q != nil {
		if q.ownMessages == 0 {
			q.wakePending = true
		}
		q.ownMessages = 0
	}
}
