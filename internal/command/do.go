package command

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// Do sends r and waits for its fate. It sends r again as r.Resend allows.
func (x *Executor) Do(r *Request) Fate {
	if !x.Enqueue(r) {
		return r.Fate
	}
	x.Flush()
	return x.Finish(r)
}

// Finish is the rest of Do, for a request that was queued.
func (x *Executor) Finish(r *Request) Fate {
	for {
		switch fate := x.Await(r); {
		case fate == Open:
			return Open
		case fate == Lost && r.Resend != kind.Reads:
			if x.Barrier(r); r.Resend != kind.Always || x.settleSpare(r) {
				return r.Fate
			}
		case r.Again == 0 || r.Unrun > 0 && r.First == 0 && x.o.Now() >= r.Unrun:
			return fate
		default:
			x.pauses(r, r.Again)
		}
		if !x.Enqueue(r) {
			return r.Fate
		}
		x.Flush()
	}
}

// Await waits until the last send of r, which was queued, has ended, and follows
// redirections meanwhile. If Await sets Again, r's maker has to queue r again after that
// time. If r is Lost, its maker must call Barrier before it decides anything. If Left is
// closed first and r can't be taken back, Await returns Open, and r must not be used again.
func (x *Executor) Await(r *Request) Fate {
	for !r.handed {
		select {
		case <-r.wake:
		case <-r.Left:
			if !x.Cancel(r) {
				return Open
			}
		}
		if !r.settled && x.follow(r) {
			continue
		}
		x.settle(r)
		break
	}
	r.handed = false
	return r.Fate
}

// Barrier waits until nothing of r, which was lost, can run any longer. It reports false,
// and sets MayArrive, if that can't be achieved.
func (x *Executor) Barrier(r *Request) (killed bool) {
	killed = <-r.barrier
	if killed && r.pipe.Doubted(&r.Wire) {
		killed = x.asksMaster(r, r.node, r.pipe)
	}
	if !killed {
		if n, err := x.top.Node(r.Slot); err == nil && n.String() != r.node.String() {
			killed = x.asksMaster(r, n, n.Pipe)
		}
	}
	r.MayArrive = r.MayArrive || !killed
	return killed
}

// asksMaster asks n's server, by pipe, whether it is the master of r's slot; r may have been
// written to another server. If it is the master, what runs elsewhere does not matter: the
// other server's changes are dropped when it becomes a replica. If not, it names the master,
// which the slot is given to. A server that does not answer or is not ready is asked again: a
// master of a cluster that was restarted answers CLUSTERDOWN for two seconds.
func (x *Executor) asksMaster(r *Request, n *topology.Node, pipe *pipeline.Pipeline) bool {
	key := r.Wire.Args[0]
	if r.Wire.Script != nil {
		key = r.Wire.Args[2]
	}
	for pause := clock.FirstPause; ; pause = clock.NextPause(pause) {
		done := make(chan struct{})
		probe := &pipeline.Request{Command: "EXISTS", Args: []any{key}, Done: pipeline.CompletionFunc(func(*pipeline.Request) { close(done) })}
		if !pipe.Enqueue(probe, 0) {
			return false
		}
		pipe.WakeWriter()
		<-done
		said, refused := redisconn.RefusalOf(probe.Err)
		_, leaves := said.Ask()
		if _, moved := said.Moved(); moved {
			x.top.Redirect(n, r.Slot, said)
		}
		if probe.Err == nil || leaves || refused && !said.Transient() || x.o.Closing() {
			return probe.Err == nil || leaves
		}
		over := make(chan struct{})
		x.o.After(pause, func() { close(over) })
		<-over
	}
}

// pauses waits for d. It reports false if r was taken back.
func (x *Executor) pauses(r *Request, d time.Duration) bool {
	over := make(chan struct{})
	x.o.After(d, func() { close(over) })
	x.mu.Lock()
	r.parked, r.delay = true, r.unsettled()
	x.mu.Unlock()
	select {
	case <-over:
	case <-r.Left:
		x.Cancel(r)
	case <-r.wake: // by Cancel
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return !r.takenBack
}

// completion is a request as the pipeline.Completion of its sends.
type completion Request

// Complete takes the end of one send. See pipeline.Completion for the goroutine.
func (c *completion) Complete(*pipeline.Request) {
	r := (*Request)(c)
	x, n := r.x, r.node
	if r.Wire.Err != nil {
		said, _ := redisconn.RefusalOf(r.Wire.Err)
		if result, why, ok := said.Unannounced(); ok { // a script that ran in full has answered
			r.Wire.Reply, r.Wire.Err, r.Unannounced = result, nil, why
		}
	}
	if x.o.Ended != nil {
		if fate := fateOf(r.Wire.Err); fate != NotSent && fate != Closed {
			x.o.Ended(r)
		}
	}
	if r.First == 0 && (r.Wire.Err == nil || r.MayHaveRun()) {
		r.First = r.Wire.Sent
		r.reach.Store(int64(r.Wire.Sent))
	}
	r.OutOfOrder = r.OutOfOrder || r.Wire.Resent
	if r.Strict {
		r.Wire.Replicas = max(r.Wire.Replicas, r.Wire.Lasting)
	}
	if r.Wire.Replicas > 0 {
		r.Unreplicated, r.ReplicasNotKnown = r.Wire.Acked == 0, r.Wire.Acked < 0
		if r.Strict && r.Wire.Acked < r.Wire.Replicas {
			r.Unreplicated = true
		}
	}
	switch {
	case r.Wire.Err == nil: // nearly always
		r.Fate, r.settled = Answered, true
		if r.spare != "" {
			x.Discard(codec.Slot(r.spare), r.spare)
		}
	case x.redirects(r):
		return
	}
	r.ended()
	x.WakeWriter(n)
}

// redirects handles a send that failed: it resends, parks or settles r. It reports whether
// r has been resent.
func (x *Executor) redirects(r *Request) bool {
	to, again := r.redirection()
	switch {
	case again && to.After > 0:
		x.mu.Lock()
		r.park(to)
		x.mu.Unlock()
	case again && x.resend(r, to):
		return true
	}
	if !r.parked {
		x.settle(r)
	}
	return false
}

// settle decides the fate of a send that failed and is not redirected.
func (x *Executor) settle(r *Request) {
	if r.settled {
		return
	}
	x.mu.Lock()
	r.parked, r.idle, r.settled = false, r.parked, true
	taken := r.takenBack
	x.mu.Unlock()
	if taken {
		return
	}
	r.Wire.Err = r.unsettled()
	r.failed, r.Fate = r.Wire.Err, fateOf(r.Wire.Err)
	switch {
	case r.Fate == Lost && r.Resend != kind.Reads:
		// At once: a closing pipeline does not connect for a barrier that no caller
		// waits for.
		barrier := make(chan bool, 1)
		r.barrier = barrier
		r.pipe.AfterKillBarrier(&r.Wire, func(killed bool) { barrier <- killed })
	default:
		if x.sendsAgain(r, r.Fate) {
			r.pause = clock.NextPause(r.pause)
			r.Again = r.pause
		}
		x.mu.Lock()
		r.idle = true
		x.mu.Unlock()
	}
}

// ended reports that r's send has ended, or that r is parked, to the goroutine that waits
// for r or to its handler. The handler takes an answer here, and anything else on another
// goroutine.
func (r *Request) ended() {
	switch {
	case r.Handler == nil || r.direct:
		clock.Signal(r.wake)
	case r.Fate == Answered:
		r.Handler.Answered(r)
	default:
		r.x.Rest(r)
	}
}

// Rest makes the handler of r take the end of its send on another goroutine, even if r was
// answered.
func (x *Executor) Rest(r *Request) {
	x.mu.Lock()
	r.wake = make(chan struct{}, 1) // with mu held, because Cancel reads it
	x.mu.Unlock()
	x.o.Go(func() {
		if x.follow(r) {
			return
		}
		if x.settle(r); r.Fate == TakenBack {
			return
		}
		r.direct, r.handed = true, true
		r.Handler.Rest(r)
		x.WakeWriter(nil)
	})
}
