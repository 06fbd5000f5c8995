package command

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/internal/topology"
)

// The pause before a request is sent again that was refused or could not be
// sent. It doubles between these.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Enqueue queues r without I/O, so that a caller may hold locks; Flush or WakeWriter
// must be called afterwards. It is called once more when the pause is over that the
// handler was told. It reports false when the client is closed, or when r must not be
// sent again: then r has its fate, Closed or that of the last send, and the handler is
// not told.
func (x *Executor) Enqueue(r *Request) bool {
	if r.failed != nil && x.o.Now() > r.Until {
		r.Fate = fateOf(r.failed)
		r.Wire.Err = r.failed
		return false
	}
	if r.x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
	}
	r.x, r.Fate = x, Open
	r.bound, r.redirects, r.misplaced, r.unplaced = 0, 0, false, nil
	r.OutOfOrder, r.Unreplicated, r.ReplicasNotKnown, r.WentAside = false, false, false, false
	r.Wire.Done, r.Wire.Wait = (*completion)(r), r.Wait
	n, err := x.top.Node(r.Slot)
	if err == nil {
		r.to(n)
		r.WentAside = r.pipe != n.Pipe
		if r.pipe.Enqueue(&r.Wire) {
			n.Touch()
			return true
		}
		err, r.WentAside = r.Wire.Err, false
	}
	if fateOf(err) != Closed {
		// It left just now, or nobody serves the slot for now.
		x.parkUnserved(r, err)
		return true
	}
	r.Wire.Reply, r.Wire.Err = nil, err
	r.Fate = Closed
	return false
}

// to has r go to n.
func (r *Request) to(n *topology.Node) {
	r.node, r.pipe = n, n.Pipe
	if r.Aside && (r.Wait || r.Wire.Track) {
		r.pipe = n.Aside()
	}
}

// reached records that the last send may have run, the first that may.
func (r *Request) reached() { atomic.StoreInt64((*int64)(&r.First), int64(r.Wire.Sent)) }

// Cancel takes back a request that was not written yet. It reports whether it
// did; r is then never done.
func (x *Executor) Cancel(r *Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.parked != nil {
		r.parked = nil
		return true
	}
	return r.node != nil && r.pipe.Cancel(&r.Wire)
}

// Unplaced tells why r last waited to be redirected since it was queued; nil if it
// did not.
func (x *Executor) Unplaced(r *Request) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return r.unplaced
}

// Waiting tells whether r waits to be written: nothing of it has run so far, but
// for what an earlier send did.
func (x *Executor) Waiting(r *Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return r.parked != nil || r.node != nil && r.pipe.Waiting(&r.Wire)
}

// Flush writes what is queued, without waiting for a write. Where there is one node it
// may read from its connection for some milliseconds: handlers may be told meanwhile,
// by the calling goroutine.
func (x *Executor) Flush() {
	nodes := x.top.Nodes()
	for _, n := range nodes {
		switch {
		case !n.Touched():
		case len(nodes) > 1:
			n.WakeWriter()
		default:
			n.Flush()
		}
	}
}

// WakeWriter is Flush for those who must not block.
func (x *Executor) WakeWriter() { x.wakeOthers(nil) }

// AwaitReplicas asks once more for the replicas of r, which was answered, on the
// connection that it ran on. See pipeline.Pipeline.AwaitReplicas. It is called
// by r's handler.
func (x *Executor) AwaitReplicas(r *Request, done func(acked int, err error)) (asks bool, err error) {
	return r.pipe.AwaitReplicas(&r.Wire, done)
}

// completion is a request as what a pipeline tells of its end.
type completion Request

// Complete takes the end of one send.
func (c *completion) Complete(*pipeline.Request) {
	r := (*Request)(c)
	x, n := r.x, r.node
	if x.o.Ended != nil {
		if fate := fateOf(r.Wire.Err); fate != NotSent && fate != Closed {
			x.o.Ended(r)
		}
	}
	r.OutOfOrder = r.OutOfOrder || r.Wire.Resent
	if r.Wire.Replicas > 0 {
		r.Unreplicated, r.ReplicasNotKnown = r.Wire.Acked == 0, r.Wire.Acked < 0
	}
	switch {
	case r.Wire.Err == nil: // as nearly always
		if r.First == 0 {
			r.reached()
		}
		r.Fate = Answered
		r.Handler.Done(r)
	case r.redirected():
		return
	default:
		r.settle()
	}
	x.wakeOthers(n)
}

// wakeOthers writes what handlers queued that were called by a pipeline of n's,
// which flushes for itself.
func (x *Executor) wakeOthers(n *topology.Node) {
	for _, other := range x.top.Nodes() {
		if (other != n || n.Divided()) && other.Touched() {
			other.WakeWriter()
		}
	}
}

// settle takes the end of a send that failed and is not redirected.
func (r *Request) settle() {
	if r.First == 0 && r.MayHaveRun() {
		r.reached()
	}
	r.Wire.Err = r.unsettled()
	r.failed = r.Wire.Err
	switch fate := fateOf(r.Wire.Err); {
	case fate == Lost && r.Resend != kind.Reads:
		r.lost()
	case r.x.sendsAgain(r, fate):
		r.pause = r.nextPause()
		r.Handler.Paused(r, r.pause)
	default:
		r.done(fate)
	}
}

// lost waits for the kill barrier of the connection that r was lost on.
func (r *Request) lost() {
	r.Handler.Unanswered(r)
	x, n := r.x, r.node
	behind := func(closed bool) {
		r.MayArrive = r.MayArrive || !closed
		if r.Resend == kind.Always {
			r.Handler.Paused(r, 0)
		} else {
			r.done(Lost)
		}
		x.wakeOthers(n)
	}
	r.pipe.AfterKillBarrier(&r.Wire, func(closed bool) {
		if closed && r.pipe.Doubted(&r.Wire) {
			r.askForMaster(behind)
			return
		}
		behind(closed)
	})
}

// askForMaster asks the server that answered the kill barrier, which may be another
// than the one that r was written to, whether it is the master of r's slot: it
// redirects what it is not. Where it is, nothing matters that runs elsewhere.
func (r *Request) askForMaster(then func(yes bool)) {
	key := r.Wire.Args[0]
	if r.Wire.Script != nil {
		key = r.Wire.Args[2]
	}
	probe := &pipeline.Request{Command: "EXISTS", Args: []any{key}}
	probe.Done = pipeline.CompletionFunc(func(*pipeline.Request) {
		said, _ := refusal.Of(probe.Err)
		_, leaves := said.Ask()
		then(probe.Err == nil || leaves)
	})
	if !r.pipe.Enqueue(probe) {
		then(false)
		return
	}
	r.pipe.WakeWriter()
}

// sendsAgain tells whether r, which is not behind a barrier, is to be sent again.
func (x *Executor) sendsAgain(r *Request, fate Fate) bool {
	if r.Resend == kind.Never || x.o.Closing() || x.o.Now()+r.nextPause() > r.Until {
		return false
	}
	switch fate {
	case Lost:
		return true
	case NotSent:
		return r.Resend >= kind.Unrun || r.Until == clock.Never || !redisconn.Permanent(r.Wire.Err)
	case Refused:
		said := r.refusal()
		return said.Transient() || r.misplaced || r.Resend >= kind.Unrun && said.Passing()
	}
	return false
}

func (r *Request) nextPause() time.Duration {
	if r.pause == 0 {
		return firstPause
	}
	return min(2*r.pause, lastPause)
}

func (r *Request) done(fate Fate) {
	r.Fate = fate
	r.Handler.Done(r)
}
