package command

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/internal/topology"
)

// Handler is told what becomes of a request that nobody waits for. Its methods are called
// without any lock held; they may queue further requests.
type Handler interface {
	// Answered takes the server's answer. It is called on the goroutine that reads
	// replies, which must not be blocked, in the order of the replies.
	Answered(*Request)

	// Rest goes on with a request whose send ended otherwise, as Fate tells. It has a
	// goroutine of its own, and goes on as one who waits: Await returns at once, for
	// what has happened so far.
	Rest(*Request)
}

// Request is one command on its way, and all its repetitions. Its maker sets the
// first group of fields and gives it a command in Wire. The
// second group is the executor's to set, and everybody's to read in the
// handler's methods and once the request is done.
type Request struct {
	Handler Handler         // is told what becomes of it; nil: its maker waits by Await
	Resend  kind.Resend     // when it may be sent again
	Until   time.Duration   // not sent again after this reading of the clock
	Unrun   time.Duration   // nor after this, as long as nothing of it has run; 0: no such limit
	Told    time.Duration   // when a caller is told what is known; 0: none is, or it was told
	Left    <-chan struct{} // closed when nobody waits for it any more, see Await; nil: somebody does
	Wait    bool            // followed by WAIT for all connected replicas
	Aside   bool            // not behind the WAITs of others, if it has one itself: no order with those that are not aside
	Slot    uint16          // of its keys, codec.Slot; any where it has none
	Several bool            // locks: they may be in different places, see Scattered
	Strict  bool            // what it does does not pass with a lease: it is Unreplicated unless all replicas acknowledged it
	Whole   bool            // it has another form, with one key: where it is Split it ends as refused, for its maker to send that

	// Wire is the last send, the command among it. Its Reply is the server's, where Fate is Answered;
	// else its Err is what the server said, or why there was no answer. Sent is
	// the reading of the clock from before that send.
	Wire pipeline.Request

	Fate      Fate          // what became of it; Open before it is done
	Again     time.Duration // nothing of it is under way, and it is to be sent again after this; 0: it is done
	First     time.Duration // the reading from before the first send that may have run; 0: there was none
	MayArrive bool          // an earlier send may still run: the connection it was lost on could not be killed

	WentAside        bool  // it was last queued for a connection where nothing runs in order with what is not to go aside; not changed by redirections
	OutOfOrder       bool  // it may have run behind what was queued after it: it was redirected, or its script was loaded first
	Unreplicated     bool  // no replica acknowledged what it did, or not all, where it is Strict, although some were asked
	Untold           error // why what it did, all of it, could not be announced; nil: it was, or is nobody's business
	ReplicasNotKnown bool  // some were asked, and their answer was cut off: r's own was kept, see pipeline.Request.KeepReply

	x       *Executor
	node    *topology.Node     // that it was last sent to
	pipe    *pipeline.Pipeline // of it
	direct  bool               // its Handler does not hear of it any more
	handed  bool               // to its Handler, which has not asked so far
	settled bool               // its last send has ended, and Fate says how
	wake    chan struct{}      // gets one when a send has ended, or it was taken back
	barrier chan bool          // of the last send that was lost: whether its connection was killed
	pause   time.Duration      // before it was last sent again for a refusal; 0: never
	failed  error              // the last trouble

	takenBack bool                 // by Cancel
	redirects int                  // since it was queued
	bound     time.Duration        // not redirected after this; 0: not redirected so far
	parked    bool                 // it waits, to be sent again or to next
	idle      bool                 // its last send has ended without an answer, and its maker is about to go on
	next      topology.Redirection // where it goes then
	delay     error                // why it last waited for that
	misplaced bool                 // the last send was refused for where it went, and may be served later
	moved     bool                 // an earlier answer was that its slot is half moved
}

// ran takes an error that says that all was done, see refusal.Untold.
func (r *Request) ran() {
	said, _ := refusal.Of(r.Wire.Err)
	if result, why, ok := said.Untold(); ok {
		r.Wire.Reply, r.Wire.Err, r.Untold = result, nil, why
	}
}

// Reached is First, to be asked while r is under way.
func (r *Request) Reached() time.Duration { return time.Duration(atomic.LoadInt64((*int64)(&r.First))) }

// Server is where r was last sent.
func (r *Request) Server() string { return r.node.Server() }

// Doubt is why replicas that are gone are still waited for where r was sent, see
// pipeline.Pipeline.Doubt.
func (r *Request) Doubt() error { return r.pipe.Doubt() }

// Begun tells whether r was ever queued.
func (r *Request) Begun() bool { return r.x != nil }

// MayHaveRun tells whether the server has run the last send, or a part of it,
// or may have.
func (r *Request) MayHaveRun() bool {
	switch fateOf(r.Wire.Err) {
	case Answered, Lost:
		return true
	case Refused:
		return !r.refusal().NothingRan()
	default:
		return false
	}
}

// ServedElsewhere tells whether another node serves r's slot by now than when r
// was sent. One that was redirected went where it belongs.
func (r *Request) ServedElsewhere() bool {
	if r.redirects > 0 {
		return false
	}
	n, err := r.x.top.Node(r.Slot)
	return err == nil && n != r.node
}

// Passing tells whether a later send may be answered better: nothing of this
// one ran.
func (r *Request) Passing() bool {
	return r.Fate == NotSent || r.refusal().Passing() || r.stillMisplaced()
}

// stillMisplaced tells that the topology could not place r in the time that one
// command may take. Two nodes may name each other for a while.
func (r *Request) stillMisplaced() bool { return r.Fate == Refused && r.misplaced }

// Scattered tells that nothing of r ran because not all of its several locks are
// where it was sent. Each may be asked for alone.
func (r *Request) Scattered() bool {
	return r.Several && r.refusal().Scatters()
}

// Split tells that nothing of the last send ran because its keys are in two
// places, while their slot is being moved.
func (r *Request) Split() bool {
	return r.refusal().Split()
}

// Moving tells that its slot is half moved: the last answer was that some of its keys, or
// all of them, are on the other server. Or that was so before, and it had no time left to
// follow the slot, which has settled since.
func (r *Request) Moving() bool {
	_, asks := r.refusal().Ask()
	return asks || r.Split() || r.MetElsewhere() || r.moved && r.stillMisplaced()
}

// MetElsewhere tells that a part of it ran, before a key that the server does not have
// for now.
func (r *Request) MetElsewhere() bool { return r.refusal().MetElsewhere() }

// Transient tells a server's refusal that passes by itself, and soon.
func (r *Request) Transient() bool { return r.refusal().Transient() || r.stillMisplaced() }

// Permanent tells that r was not sent and that connecting again would meet the
// same refusal.
func (r *Request) Permanent() bool { return r.Fate == NotSent && redisconn.Permanent(r.Wire.Err) }

// refusal is the server's error that the last send ended with, if it did with one.
func (r *Request) refusal() (said refusal.Refusal) {
	if fateOf(r.Wire.Err) == Refused {
		said, _ = refusal.Of(r.Wire.Err)
	}
	return said
}
