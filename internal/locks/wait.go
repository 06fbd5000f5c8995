package locks

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// allLines is what all lines of a client share.
type allLines struct {
	*Client
	leaving clock.Gauge // waiters that leave a server's queue

	lastLeft       atomic.Pointer[time.Time] // when a server last answered that some have left
	unheard        atomic.Int64              // queues that have subscribed and are not listening yet
	noClientCounts atomic.Bool               // the server refuses to count subscribers
}

// init makes the zero Client ready.
func (c *allLines) init(of *Client) { c.Client, c.leaving = of, clock.NewGauge() }

// shardLines is what the lines of one section share, which guards all of it.
type shardLines struct {
	*section
	c          *allLines
	fairShares waitqueue.Table
	spares     []*queue // queues that nobody waits in
	byOwner    map[ownerQueue]*queue
	touched    *queue              // list of the queues that step must look at
	leavers    map[*line][]*leaver // who waits to leave the server's queue; while there is an entry, a script is under way
}

// init makes the zero shardLines ready.
func (s *shardLines) init(c *allLines, x *section) {
	s.section, s.c, s.byOwner, s.leavers = x, c, map[ownerQueue]*queue{}, map[*line][]*leaver{}
}

// line is who waits for one name: a queue for each sort of waiters. Init makes it ready. All
// other methods must be called in the section.
type line struct {
	// fairShare is nil unless this client releases the name often.
	fairShare *waitqueue.FairShare

	name   lineName
	lone   *turn  // its attempt is under way, and there is nobody else
	queues *queue // one for each sort of waiters; nil while nobody waits and nothing is under way
}

// lineName is a name, as its line knows it.
type lineName interface {
	Waiting() *shardLines // of its line
	DropIfIdle()          // called when a queue was dropped
}

// turn is a call that waits for its turn.
type turn struct {
	waitqueue.Waiter // its Call is a caller
	lock             *Lock
	began            time.Duration
	queueOwner       Owner // whose queue it waits in, where each owner has one
}

// caller carries out what a queue decides for a waiter.
type caller interface {
	Try()                                    // makes an attempt
	EndWait(why waitqueue.Reason, err error) // its wait has ended
	TakePlace() bool                         // takes over its owner's place in the server's queue, if it needs one
}

// init makes the zero line of a name ready.
func (x *line) init(name lineName, key string) {
	x.name, x.fairShare = name, name.Waiting().fairShares.Find(key)
}

// queued tells whether there is a queue.
func (x *line) queued() bool { return x.queues != nil }

// empty tells whether nobody waits and no attempt is under way.
func (x *line) empty() bool { return x.queues == nil && x.lone == nil }

// alone makes w the only waiter of an empty line. It needs no queue for now: most attempts are
// granted at once. Anything else that happens, such as another call, a refusal, trouble or a
// caller that gives up, first makes the queue that the waiter would have had, in the state that
// it would be in.
func (x *line) alone(w *turn) { x.lone = w }

// endAlone ends what alone began, and reports whether w was alone until now.
func (x *line) endAlone(w *turn) bool {
	alone := x.lone == w
	if alone {
		x.lone = nil
	}
	return alone
}

// passPlaceOn reports whether a caller with As still waits as the owner. That one needs the
// owner's place in the server's queue, and leaves it in its turn, even if the server never answers
// it. A caller that makes one attempt needs no place.
func (x *line) passPlaceOn(l *Lock, o Owner) bool {
	q := x.find(l, o)
	if q == nil {
		return false
	}
	for w := range q.All() {
		if w.Call.(caller).TakePlace() {
			return true
		}
	}
	return false
}

// waiters iterates over the waiters of all queues.
func (x *line) waiters(yield func(*waitqueue.Waiter) bool) {
	for q := x.queues; q != nil; q = q.next {
		for w := range q.Waiting() {
			if !yield(w) {
				return
			}
		}
	}
}
