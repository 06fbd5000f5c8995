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

// Handler is told what becomes of a request. Its methods are called without
// any lock held, on a goroutine that must not be blocked; they may queue
// further requests.
type Handler interface {
	// Unanswered follows the loss of the request's connection: it may have
	// run, or may yet run. Paused or Done follows when the kill barrier is
	// settled.
	Unanswered(*Request)

	// Paused says that nothing of the request is under way and that it is to be
	// sent again after d, by Executor.Enqueue. Before that the handler may send
	// others.
	Paused(r *Request, d time.Duration)

	// Done says that the request has its fate.
	Done(*Request)
}

// Request is one command on its way, and all its repetitions. Its maker sets the
// first group of fields and gives it a command in Wire. The
// second group is the executor's to set, and everybody's to read in the
// handler's methods and once the request is done.
type Request struct {
	Handler Handler       // is told what becomes of it
	Resend  kind.Resend   // when it may be sent again
	Until   time.Duration // not sent again after this reading of the clock
	Wait    bool          // followed by WAIT for all connected replicas
	Aside   bool          // not behind the WAITs of others, if it has one itself: no order with those that are not aside
	Slot    uint16        // of its keys, codec.Slot; any where it has none
	Several bool          // locks: they may be in different places, see Scattered
	Whole   bool          // it has another form, with one key: where it is Split it ends as refused, for its maker to send that

	// Wire is the last send, the command among it. Its Reply is the server's, where Fate is Answered;
	// else its Err is what the server said, or why there was no answer. Sent is
	// the reading of the clock from before that send.
	Wire pipeline.Request

	Fate      Fate          // what became of it; Open before it is done
	First     time.Duration // the reading from before the first send that may have run; 0: there was none
	MayArrive bool          // an earlier send may still run: the connection it was lost on could not be killed

	WentAside        bool // it was last queued for a connection where nothing runs in order with what is not to go aside; not changed by redirections
	OutOfOrder       bool // it may have run behind what was queued after it: it was redirected, or its script was loaded first
	Unreplicated     bool // no replica acknowledged what it did, although some were asked
	ReplicasNotKnown bool // some were asked, and their answer was cut off: r's own was kept, see pipeline.Request.KeepReply

	x      *Executor
	node   *topology.Node     // that it was last sent to
	pipe   *pipeline.Pipeline // of it
	pause  time.Duration      // before it was last sent again for a refusal; 0: never
	failed error              // the last trouble

	redirects int                   // since it was queued
	bound     time.Duration         // not redirected after this; 0: not redirected so far
	parked    *topology.Redirection // that it waits for; nil: it does not
	unplaced  error                 // why it last did
	misplaced bool                  // the last send was refused for where it went, and may be served later
}

// Reached is First, to be asked while r is under way.
func (r *Request) Reached() time.Duration { return time.Duration(atomic.LoadInt64((*int64)(&r.First))) }

// Server is where r was last sent.
func (r *Request) Server() string { return r.node.Server() }

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
