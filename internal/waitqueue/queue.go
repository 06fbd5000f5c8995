package waitqueue

import (
	"iter"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Queue is the wait queue of one name in one client (A3). Make it with New. It is not
// safe for concurrent use. Instants are readings of one clock that never goes back.
type Queue struct {
	timeout time.Duration
	random  Random
	policy  Policy

	waiting  list
	shared   shared  // those of them that have a shared owner
	unqueued list    // waiters whose attempts are made outside the queue
	leading  *Waiter // waiter of the queue's attempt in flight; it may have left
	handedOn bool    // whether that attempt follows an unlock

	rules          *kind.Traits
	heldOff        time.Duration // until when waiters leave room for others after a grant was given back, see pace.go; 0: they need not
	wakes          int           // number of attempts wanted
	heard          bool          // whether a message asked for some of them
	notBefore      time.Duration // no attempt before this; 0: no limit
	expiryDeadline time.Duration // the head's attempt is made by then at the latest
	current        wakeUp
	handOff

	subscribed    bool
	confirmed     bool
	unsubscribeAt time.Duration // when a queue without waiters unsubscribes; 0: not decided

	answers  int  // number of answers "taken", and of grants to waiters of the queue
	taken    bool // whether the last news was "taken": neither a release nor trouble has come since
	trouble  trouble
	dues     dues          // of the unqueued
	unfailed *Waiter       // next waiter to check, at once, for the end of its patience; nil: none
	timerAt  time.Duration // what the timer is to be set to; 0: it is to be stopped
	closed   bool
	changed  bool // an event came on which nothing was decided yet
	pendings pendings
	drop     bool // the queue has nothing left

	// what the caller was last asked for
	asked struct {
		subscribed bool
		timerAt    time.Duration
	}
}

// handOff is the state of passing the lock on within this client. The head's acquire
// follows the unlock in the same write, which costs one round trip instead of three. All
// processes still receive the message of the unlock, and find the lock taken.
type handOff struct {
	handOffs         int           // number in a row
	handedOff        bool          // one has happened since the queue subscribed
	ownMessages      int           // own messages still expected
	ownMessagesUntil time.Duration // when they are no longer expected
	handOffDeadline  time.Duration // this client released, and the head tries by then if no message comes; 0: nothing is due
}

// wakeUp is the rest of a wake-up that is good for several attempts, while one of them is
// in flight.
type wakeUp struct {
	left   int     // attempts after that one
	source Source  // source of that attempt
	next   *Waiter // next waiter to try, where refusals are passed on; nil: none, or the head
}

// New makes an empty queue. A waiter without an answer fails when its trouble has lasted
// for timeout. random spreads attempts. The rules are those of kind.Reentrant.
func New(timeout time.Duration, random Random) Queue {
	return Queue{timeout: timeout, random: random, rules: kind.Reentrant.Traits()}
}

// Use sets the name's fair share, or none if share is nil.
func (q *Queue) Use(share *FairShare) { q.policy.Share = share }

// Follow sets the rules of a kind and the name's fair share; nil: none. The queue must be empty.
func (q *Queue) Follow(r *kind.Traits, share *FairShare) { q.rules, q.policy.Share = r, share }

// Len is the number of waiters in the queue.
func (q *Queue) Len() int { return q.waiting.size }

// Shares reports whether any waiter in the queue has a shared owner.
func (q *Queue) Shares() bool { return len(q.shared) > 0 }

// Waiting yields the waiters in the queue, in order. The loop may report events of the
// current one.
func (q *Queue) Waiting() iter.Seq[*Waiter] { return q.waiting.each }

// All yields the waiters in the queue and the unqueued ones.
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

// Listening reports whether the subscription is confirmed.
func (q *Queue) Listening() bool { return q.confirmed }

// wasRefused reports whether the wait has had the answer that the lock is taken.
func (q *Queue) wasRefused(w *Waiter) bool {
	return w.Refused || w.linked && w.queued && q.answers != w.answers
}
