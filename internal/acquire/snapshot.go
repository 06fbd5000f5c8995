package acquire

import (
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
)

// Snapshot is what there is of a call that waits at one moment. It is for tests, which wait until
// something is under way.
type Snapshot struct {
	Attempt   *command.Request // of the attempt under way; nil: there is none
	Written   bool             // it may have reached the server
	Tries     int              // attempts in its name
	Owner     owner.Owner      // of the latest
	Contended bool             // others had what it wants, or came before it
	Taken     bool             // it has taken what nobody owns
	Ended     bool             // its wait has ended, and its caller has not come yet
	Waiting   int              // callers in its queue, with it; 0: it is in none
	Listening bool             // that queue's subscription is confirmed
}

// Snapshot tells what there is of w.
func (w *Waiter) Snapshot() Snapshot {
	defer w.l.Shard.Enter(section.MustNotBlock).Leave()
	now := Snapshot{Tries: w.tries, Owner: w.owner, Contended: w.contended, Taken: w.taken, Ended: len(w.ready) > 0}
	if a := w.attempt; a != nil {
		now.Attempt, now.Written = &a.req, a.unanswered()
	}
	if w.n == nil {
		return now
	}
	if q := w.queue(); q != nil {
		now.Waiting, now.Listening = q.Len(), q.Listening()
	}
	return now
}
