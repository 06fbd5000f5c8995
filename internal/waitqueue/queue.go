package waitqueue

import (
	"iter"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/wakepolicy"
)

// Queue is who waits for one name in one client (A3). Make it with New. It is
// not safe for concurrent use. Instants are readings of one clock that never
// goes back.
type Queue struct {
	timeout time.Duration
	random  wakepolicy.Random
	policy  wakepolicy.Policy

	waiting  list
	shared   shared  // of them, those with a shared owner
	unqueued list    // their attempts are made outside the queue
	leading  *Waiter // the queue's attempt is under way in its name; it may have left
	handedOn bool    // that attempt follows an unlock

	rules          *kind.Traits
	heldOff        time.Duration // until when a grant that was given back leaves room for others, see pace.go; 0: none does
	wakes          int           // how many attempts are wanted
	heard          bool          // a message asked for some of them
	notBefore      time.Duration // and put off until then; 0: it is not
	expiryDeadline time.Duration // the head's attempt is made by then at the latest
	current        wakeUp
	handOff

	subscribed    bool
	confirmed     bool
	unsubscribeAt time.Duration // when a queue that nobody waits in leaves its channel; 0: not decided

	answers  int  // "taken", or a grant to one of the queue
	taken    bool // that was the last that was heard of the name: neither a release nor trouble has come since
	trouble  trouble
	dues     dues          // of the unqueued
	unfailed *Waiter       // the next to be looked at, at once, whether its patience has ended; nil: nobody is
	timerAt  time.Duration // what the timer is to be set to; 0: it is to be stopped
	closed   bool
	changed  bool // something has happened that was not decided on yet
	pendings pendings
	drop     bool // nothing is left

	// What the caller was last asked for.
	asked struct {
		subscribed bool
		timerAt    time.Duration
	}
}

// handOff is the state of passing the lock on within this client. The head's
// acquire follows the unlock in the same write, which costs one round trip
// instead of three. All processes receive the message of the unlock as ever,
// and find the lock taken.
type handOff struct {
	handOffs         int           // how many in a row
	handedOff        bool          // one has happened since the queue subscribed
	ownMessages      int           // messages that are still to come and say nothing new
	ownMessagesUntil time.Duration // when they are not waited for any more
	handOffDeadline  time.Duration // this client released, and the head tries by then if no message comes; 0: nothing is due
}

// wakeUp is what is left of a wake-up that is good for several attempts, while
// one of them is under way.
type wakeUp struct {
	left   int     // attempts after that one
	source Source  // what it was
	next   *Waiter // where refusals are passed on: who stands behind it; nil: nobody, or the head is next
}

// New makes a queue that nobody waits in. timeout is for how long a waiter bears
// trouble before its first answer. random is asked when attempts are spread. The
// rules are those of kind.Reentrant.
func New(timeout time.Duration, random wakepolicy.Random) Queue {
	return Queue{timeout: timeout, random: random, rules: kind.Reentrant.Traits()}
}

// Use has the queue go by the name's fair share, or by none.
func (q *Queue) Use(share *wakepolicy.FairShare) { q.policy.Share = share }

// Follow has the queue go by the rules of a kind. Nobody waits in it.
func (q *Queue) Follow(r *kind.Traits) { q.rules = r }

// Len is how many wait in the queue.
func (q *Queue) Len() int { return q.waiting.size }

// Shares tells whether any of them has a shared owner.
func (q *Queue) Shares() bool { return len(q.shared) > 0 }

// Waiting are those who wait in the queue, in order. The loop may report events
// of the one it has.
func (q *Queue) Waiting() iter.Seq[*Waiter] { return q.waiting.each }

// All are those and the ones outside the queue.
func (q *Queue) All() iter.Seq[*Waiter] {
	return func(yield func(*Waiter) bool) {
		for _, l := range [...]*list{&q.waiting, &q.unqueued} {
			for w := range l.each {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// Listening tells whether the subscription is confirmed.
func (q *Queue) Listening() bool { return q.confirmed }

// wasTold tells whether the wait has had an answer.
func (q *Queue) wasTold(w *Waiter) bool {
	return w.Told || w.linked && w.queued && q.answers != w.answers
}
