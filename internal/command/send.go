package command

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// LeastTime is the time that must be left for a send, a tenth of the command timeout. If
// the answer came too late, it would be unknown whether the command ran; without the send
// it is certain that it did not.
func (x *Executor) LeastTime() time.Duration { return x.o.Timeout / 10 }

// OneSend is how long a caller waits at least for the outcome of one command: a command timeout or,
// if that is shorter, the WAIT of a command that has one, and an eighth of a command timeout, within
// which a lost command is known to be lost.
func (x *Executor) OneSend(waits bool) time.Duration {
	d := x.o.Timeout
	if waits {
		d = max(d, pipeline.WaitTimeout)
	}
	return d + x.o.Timeout/8
}

// Enqueue queues r without I/O, so that a caller may hold locks; Flush or WakeWriter
// must be called afterwards. It is called once more to send r again. It reports false if
// the client is closed, or if r was taken back or must not be sent again. Then r has its
// fate, and its handler is not called.
func (x *Executor) Enqueue(r *Request) bool {
	if r.failed != nil && x.o.Now() > r.Until {
		r.Fate = fateOf(r.failed)
		r.Wire.Err = r.failed
		return false
	}
	if r.x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		if r.takenBack {
			return false
		}
		r.Wire.Until = r.Until
	}
	if r.Handler == nil && r.wake == nil {
		r.wake = make(chan struct{}, 1)
	}
	r.x, r.Fate, r.Again = x, Open, 0
	r.bound, r.redirects, r.misplaced, r.moved, r.parked, r.idle, r.settled, r.handed = 0, 0, false, false, false, false, false, false
	r.OutOfOrder, r.Unreplicated, r.ReplicasNotKnown, r.WentAside = false, false, false, false
	r.Wire.Done, r.Wire.Wait = (*completion)(r), r.Wait
	r.Wire.Counts, r.Wire.Asking = r.Strict, false
	n, err := x.top.Node(r.Slot)
	if err == nil {
		r.to(n)
		r.WentAside = r.pipe != n.Pipe
		if r.pipe.Enqueue(&r.Wire, 0) {
			n.Touch()
			return true
		}
		err, r.WentAside = r.Wire.Err, false
	}
	if fateOf(err) != Closed {
		// The node left just now, or no node serves the slot for now.
		x.parkUnserved(r, err)
		r.ended()
		return true
	}
	r.Wire.Reply, r.Wire.Err = nil, err
	r.Fate = Closed
	return false
}

// to makes n the node that r is sent to.
func (r *Request) to(n *topology.Node) {
	r.node, r.pipe = n, n.Pipe
	if r.Aside && (r.Wait || r.Wire.Track) {
		r.pipe = n.Aside()
	}
}

// Cancel takes back a request that was not written yet. It reports whether it
// did. If so, r is never sent again, and its handler is not called.
func (x *Executor) Cancel(r *Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.takenBack || !r.parked && (r.node == nil || !r.pipe.Cancel(&r.Wire)) {
		return false
	}
	r.takenBack, r.Fate = true, TakenBack
	if r.wake != nil {
		clock.Signal(r.wake)
	}
	return true
}

// Delay says why r last had to wait before it was sent again; nil if it never had to.
func (x *Executor) Delay(r *Request) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return r.delay
}

// Unwritten tells whether nothing of r is in flight: it waits to be written, or its last send
// has ended without an answer and its maker is about to continue. Then nothing of it has run,
// unless an earlier send did.
func (x *Executor) Unwritten(r *Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !r.takenBack && (r.parked || r.idle || r.node != nil && r.pipe.Unwritten(&r.Wire))
}

// Flush writes the queued requests, without waiting for a write. With one node it may read
// from its connection for up to four milliseconds, and so may call handlers on the calling
// goroutine.
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

// WakeWriter is Flush for callers that must not block. It leaves out the pipeline of but that called
// the handlers, which flushes itself; nil: none.
func (x *Executor) WakeWriter(but *topology.Node) {
	for _, n := range x.top.Nodes() {
		if (n != but || n.Divided) && n.Touched() {
			n.WakeWriter()
		}
	}
}

// AwaitReplicas repeats the WAIT for r, which was answered, on the connection that r ran
// on. See pipeline.Pipeline.AwaitReplicas. Flush or WakeWriter must be called afterwards.
func (x *Executor) AwaitReplicas(r *Request, done func(acked int, err error)) (asks bool, err error) {
	r.node.Touch()
	return r.pipe.AwaitReplicas(&r.Wire, done)
}

// sendsAgain tells whether r, which needs no kill barrier, is sent again.
func (x *Executor) sendsAgain(r *Request, fate Fate) bool {
	if r.Resend == kind.Never || x.o.Closing() || x.o.Now()+clock.NextPause(r.pause)+x.LeastTime() > r.Until {
		return false
	}
	switch fate {
	case Lost:
		return true
	case NotSent:
		return r.Resend >= kind.Unrun || r.Until == clock.Never || !redisconn.Permanent(r.Wire.Err)
	case Refused:
		said := r.Refusal()
		return said.Transient() || r.misplaced || r.Resend >= kind.Unrun && said.Passing()
	}
	return false
}
