package command

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// Handler takes the results of a request, so that no goroutine has to wait for it. Its
// methods are called without any lock held, and may queue further requests.
type Handler interface {
	// Answered takes the server's answer. It is called in the order of the replies, on
	// the goroutine that reads them, and so must not block.
	Answered(*Request)

	// Rest continues with a request whose send ended otherwise; Fate says how. It runs
	// on another goroutine, and may wait for the request from then on: its first Await
	// returns at once, with what has happened so far.
	Rest(*Request)
}

// Ended is a Handler that is called once, when the request has ended: Finish sends it until then.
type Ended func(*Request)

// Answered is for a request that was answered at once.
func (f Ended) Answered(r *Request) { f(r) }

// Rest is for any other.
func (f Ended) Rest(r *Request) {
	r.x.Finish(r)
	f(r)
}

// Request is one command with all its sends. Its maker sets the first group of
// fields and gives it a command in Wire. The executor sets the second group, which
// others may read in the handler's methods and once the request is done.
type Request struct {
	Handler  Handler         // takes its results; nil: its maker calls Await
	Resend   kind.Resend     // when it may be sent again
	Until    time.Duration   // not sent again after this clock reading
	Unrun    time.Duration   // not sent again after this either while nothing of it has run; 0: no such limit
	ResultAt time.Duration   // when a caller gets the result known by then; 0: no caller waits for one
	Left     <-chan struct{} // closed when its caller no longer waits, see Await; nil: the caller always waits
	Wait     bool            // followed by WAIT for all connected replicas
	Aside    bool            // with Wait or Wire.Track: may use the node's second connection, past other WAITs; no order with requests that are not Aside
	Slot     uint16          // of its keys, codec.Slot; any slot if it has none
	Several  bool            // it has several locks, which may be in different places, see Scattered
	Strict   bool            // no lease ends its effect: it is Unreplicated unless all replicas acknowledged it
	OneKey   bool            // its script can run with the first key alone, see switchForm
	Receipt  bool            // and its second key is a receipt, which may then be in another slot
	Whole    bool            // its maker has a form of it with one key: if Split, it ends as refused, so that its maker can send that

	// Wire is the last send, with the command. If Fate is Answered, Wire.Reply is the
	// server's reply. Otherwise Wire.Err is the server's error, or why there was no answer.
	// Wire.Sent is the clock reading before that send.
	Wire pipeline.Request

	Fate      Fate          // how it ended; Open before that
	Again     time.Duration // nothing of it is in flight, and its maker has to queue it again after this pause; 0: it is done
	First     time.Duration // clock reading before the first send that may have run; 0: there was none
	MayArrive bool          // an earlier send may still run: it was lost, and its connection could not be killed

	WentAside        bool  // last queued on the node's second connection, see Aside; redirections do not change it
	OutOfOrder       bool  // requests queued after it may have run before it: it was redirected, or its script was loaded first
	Unreplicated     bool  // WAIT asked for replicas, and none acknowledged it or, if Strict, not all
	Unannounced      error // why the script, which ran in full, could not publish its change; nil: it could, or had none to publish
	ReplicasNotKnown bool  // the connection broke before the answer to WAIT; the reply was kept, see pipeline.Request.KeepReply

	x       *Executor
	reach   atomic.Int64       // First, for Reached; an atomic of its own type is aligned on 32-bit platforms too
	node    *topology.Node     // that it was last sent to
	pipe    *pipeline.Pipeline // of that node
	direct  bool               // its Handler was called for the last time: Await takes its results
	handed  bool               // the next Await returns at once
	settled bool               // its last send has ended, and Fate says how
	wake    chan struct{}      // signalled when a send has ended, or it was taken back
	barrier chan bool          // of the last lost send: whether its connection was killed
	pause   time.Duration      // the last pause before a repetition; 0: there was none
	failed  error              // the error of the last send that failed

	takenBack bool                 // by Cancel
	redirects int                  // since it was queued
	bound     time.Duration        // not redirected after this; 0: not redirected so far
	parked    bool                 // it waits to be queued again, or to be sent to next
	idle      bool                 // its last send has ended without an answer, and its maker is about to continue
	next      topology.Redirection // where it goes after it was parked
	delay     error                // why it last waited
	misplaced bool                 // the last server does not serve its slot now; another or a later one may
	whole     []any                // its arguments in the form with all keys, while it is sent with one; nil: it is not
	ahead     kind.Ahead           // its Call's
	lacks     string               // the keys that its script lacked in that form, see goAhead; "": none
	spare     string               // its receipt in another slot, in that form; "": it has none there
	moved     bool                 // an earlier answer was that its slot is half moved
}

// Reached is First, for readers while r is in flight.
func (r *Request) Reached() time.Duration { return time.Duration(r.reach.Load()) }

// Server is where r was last sent.
func (r *Request) Server() string { return r.node.Server() }

// Doubt says why the node to which r was last sent still waits for replicas that have
// disappeared, see pipeline.Pipeline.Doubt.
func (r *Request) Doubt() error { return r.pipe.Doubt() }

// Begun tells whether r was ever queued.
func (r *Request) Begun() bool { return r.x != nil }

// MayHaveRun tells whether the server has run the last send, or may have run it or
// a part of it.
func (r *Request) MayHaveRun() bool {
	switch fateOf(r.Wire.Err) {
	case Answered, Lost:
		return true
	case Refused:
		return !r.Refusal().NothingRan()
	default:
		return false
	}
}

// ServedElsewhere tells whether r's slot is now served by another node than the one that
// r was sent to. It is false if r was redirected.
func (r *Request) ServedElsewhere() bool {
	if r.redirects > 0 {
		return false
	}
	n, err := r.x.top.Node(r.Slot)
	return err == nil && n != r.node
}

// Passing tells whether nothing of the last send ran, and a later one may succeed.
func (r *Request) Passing() bool {
	return r.Fate == NotSent || r.Refusal().Passing() || r.stillMisplaced()
}

// stillMisplaced tells whether the topology could not place r within a command timeout.
// Two nodes may name each other for a while.
func (r *Request) stillMisplaced() bool { return r.Fate == Refused && r.misplaced }

// Scattered tells whether nothing of r ran because not all of its several locks are
// at the node that it was sent to. Its maker may send a request for each lock.
func (r *Request) Scattered() bool {
	return r.Several && r.Refusal().Scatters()
}

// Moving tells whether r failed because its slot was half moved. The last answer was that
// some or all of its keys are on the other server. Or an earlier answer was, and r had no
// time left to follow the slot.
func (r *Request) Moving() bool {
	said := r.Refusal()
	_, asks := said.Ask()
	return asks || said.Split() || said.MetElsewhere() || r.moved && r.stillMisplaced()
}

// Transient tells whether a server refused r for a reason that soon passes by itself.
func (r *Request) Transient() bool { return r.Refusal().Transient() || r.stillMisplaced() }

// Permanent tells whether r was not sent and connecting again would meet the same
// refusal.
func (r *Request) Permanent() bool { return r.Fate == NotSent && redisconn.Permanent(r.Wire.Err) }

// Refusal is the server's error of the last send; the zero Refusal if there was none.
func (r *Request) Refusal() (said redisconn.Refusal) {
	if fateOf(r.Wire.Err) == Refused {
		said, _ = redisconn.RefusalOf(r.Wire.Err)
	}
	return said
}
