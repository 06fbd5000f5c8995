package waiting

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// Client is what all lines of a client share.
type Client struct {
	*core.Client
	Leaving clock.Gauge // waiters that leave a server's queue

	lastLeft       atomic.Pointer[time.Time] // when a server last answered that some have left
	unheard        atomic.Int64              // queues that have subscribed and are not listening yet
	noClientCounts atomic.Bool               // the server refuses to count subscribers
}

// Init makes the zero Client ready.
func (c *Client) Init(of *core.Client) { c.Client, c.Leaving = of, clock.NewGauge() }

// Shard is what the lines of one section share, which guards all of it.
type Shard struct {
	*section.Section
	c          *Client
	fairShares waitqueue.Table
	spares     []*Queue // queues that nobody waits in
	byOwner    map[ownerQueue]*Queue
	touched    *Queue              // list of the queues that Step must look at
	leavers    map[*Line][]*leaver // who waits to leave the server's queue; while there is an entry, a script is under way
}

// Init makes the zero Shard ready.
func (s *Shard) Init(c *Client, x *section.Section) {
	s.Section, s.c, s.byOwner, s.leavers = x, c, map[ownerQueue]*Queue{}, map[*Line][]*leaver{}
}

// Line is who waits for one name: a queue for each sort of waiters. Init makes it ready. All
// other methods must be called in the section.
type Line struct {
	// FairShare is nil unless this client releases the name often.
	FairShare *waitqueue.FairShare

	name   Name
	lone   *Turn  // its attempt is under way, and there is nobody else
	queues *Queue // one for each sort of waiters; nil while nobody waits and nothing is under way
}

// Name is a name, as its line knows it.
type Name interface {
	Waiting() *Shard // of its line
	DropIfIdle()     // called when a queue was dropped
}

// Turn is a call that waits for its turn.
type Turn struct {
	waitqueue.Waiter // its Call is a Caller
	Lock             *core.Lock
	Began            time.Duration
	QueueOwner       owner.Owner // whose queue it waits in, where each owner has one
}

// Caller carries out what a queue decides for a waiter.
type Caller interface {
	Try()                                    // makes an attempt
	EndWait(why waitqueue.Reason, err error) // its wait has ended
	TakePlace() bool                         // takes over its owner's place in the server's queue, if it needs one
}

// Init makes the zero line of a name ready.
func (x *Line) Init(name Name, key string) {
	x.name, x.FairShare = name, name.Waiting().fairShares.Find(key)
}

// Queued tells whether there is a queue.
func (x *Line) Queued() bool { return x.queues != nil }

// Empty tells whether nobody waits and no attempt is under way.
func (x *Line) Empty() bool { return x.queues == nil && x.lone == nil }

// Alone makes w the only waiter of an empty line. It needs no queue for now: most attempts are
// granted at once. Anything else that happens, such as another call, a refusal, trouble or a
// caller that gives up, first makes the queue that the waiter would have had, in the state that
// it would be in.
func (x *Line) Alone(w *Turn) { x.lone = w }

// EndAlone ends what Alone began, and reports whether w was alone until now.
func (x *Line) EndAlone(w *Turn) bool {
	alone := x.lone == w
	if alone {
		x.lone = nil
	}
	return alone
}

// PassPlaceOn reports whether a caller with As still waits as the owner. That one needs the
// owner's place in the server's queue, and leaves it in its turn, even if the server never answers
// it. A caller that makes one attempt needs no place.
func (x *Line) PassPlaceOn(l *core.Lock, o owner.Owner) bool {
	q := x.Find(l, o)
	if q == nil {
		return false
	}
	for w := range q.All() {
		if w.Call.(Caller).TakePlace() {
			return true
		}
	}
	return false
}

// Waiters iterates over the waiters of all queues.
func (x *Line) Waiters(yield func(*waitqueue.Waiter) bool) {
	for q := x.queues; q != nil; q = q.next {
		for w := range q.Waiting() {
			if !yield(w) {
				return
			}
		}
	}
}
