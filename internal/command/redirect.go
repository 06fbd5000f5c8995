package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// A server may answer that a command was sent to the wrong place: MOVED, ASK, TRYAGAIN,
// CLUSTERDOWN, READONLY, NOAUTH. Or the command's node leaves before it is written. In
// either case nothing of it ran. The topology says where it goes, and the executor sends
// it again until one command timeout has passed. The caller does not notice, except by
// Request.OutOfOrder. After that time the command ends as refused, or as not sent.

// hastyRedirects is how often a request is redirected without a pause. Two nodes
// may each name the other as the slot's.
const hastyRedirects = 4

// redirection returns where r goes after a send that did not run. It returns false if r
// is not redirected, and so is settled.
func (r *Request) redirection() (to topology.Redirection, again bool) {
	x := r.x
	said, _ := redisconn.RefusalOf(r.Wire.Err)
	switch {
	case errors.Is(r.Wire.Err, pipeline.ErrGone):
		to.Again = true
	case fateOf(r.Wire.Err) == Refused && said.Redirects(): // not a refusal met while connecting
		to = x.top.Redirect(r.node, r.Slot, said)
		if r.switchForm(said) {
			to = topology.Redirection{Again: true}
		}
	}
	r.moved = r.moved || r.Moving()
	r.misplaced = to.Again
	if to.Redial {
		r.pipe.GiveUp(&r.Wire)
		if r.Resend >= kind.Unrun {
			return to, false // its maker queues it again after a pause: its owner's other commands may go first
		}
	}
	if !to.Again || r.Scattered() || r.Whole && r.Refusal().Split() || to.After > 0 && r.Resend != kind.Never && r.lacks == "" {
		return to, false
	}
	if r.bound == 0 {
		r.bound = r.Wire.Deadline
	}
	if x.o.Now() >= r.bound {
		return to, false
	}
	r.OutOfOrder = true
	if r.redirects++; r.redirects > hastyRedirects {
		to.After = max(to.After, clock.FirstPause)
	}
	return to, to.After == 0 || !x.o.Closing()
}

// resend sends r to the node of to, or to the one that serves r's slot now. It reports
// false if it could not: then r is parked, was taken back or has its final error.
func (x *Executor) resend(r *Request, to topology.Redirection) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	r.parked = false
	if r.takenBack {
		return false
	}
	n, err := to.To, error(nil)
	if n == nil {
		n, err = x.top.Node(r.Slot)
	}
	if err == nil {
		r.to(n)
		pipe := r.pipe
		r.Wire.Asking = to.Asking
		if pipe.Enqueue(&r.Wire, r.bound) {
			pipe.WakeWriter()
			return true
		}
		err = r.Wire.Err
	}
	if fateOf(err) != Closed && !x.o.Closing() {
		x.parkUnserved(r, err)
		return false
	}
	if fateOf(err) == Refused {
		err = Unsent(err) // why no node serves the slot
	}
	r.Wire.Reply, r.Wire.Err = nil, err
	return false
}

// parkUnserved parks r because no node can take it. It is called with mu held, or before
// another goroutine knows r.
func (x *Executor) parkUnserved(r *Request, why error) {
	if fateOf(why) != NotSent {
		why = Unsent(why)
	}
	r.Wire.Reply, r.Wire.Err = nil, why
	if r.bound == 0 {
		r.bound = x.o.Now() + x.o.Timeout
	}
	r.OutOfOrder = true
	r.park(topology.Redirection{After: clock.FirstPause})
}

// park makes r wait before it is sent to its next node. It is called with mu held, or
// before another goroutine knows r.
func (r *Request) park(to topology.Redirection) {
	r.parked, r.next, r.delay = true, to, r.unsettled()
}

// follow waits for the pause of a parked request and resends it. It reports false if r is
// not parked, was taken back or can't be resent before its bound.
func (x *Executor) follow(r *Request) bool {
	for r.parked {
		r.pause = max(r.next.After, clock.NextPause(r.pause))
		for d := min(r.pause, max(r.bound-x.o.Now(), time.Millisecond)); d > 0; d = x.tooLate(r) {
			if !x.pauses(r, d) {
				return false
			}
		}
		if x.o.Now() >= r.bound {
			return false
		}
		if !x.goAhead(r) && r.Resend != kind.Never {
			return false // its maker queues it again after a pause: its owner's other commands may go first
		}
		if x.resend(r, r.next) {
			return true
		}
	}
	return false
}

// tooLate returns how long r waits instead of being sent, or 0 if it can be sent. A send
// too close to its bound, or to the time at which its caller gets a result, would be
// unanswered by then. Without the send the result is certain: nothing has run.
func (x *Executor) tooLate(r *Request) time.Duration {
	now := x.o.Now()
	left, pause := r.bound-now, r.bound-now
	if told := r.ResultAt - now; told > 0 && told < left {
		left, pause = told, told+clock.FirstPause
	}
	if left <= 0 || left >= x.LeastTime() || x.o.Closing() {
		return 0
	}
	return pause
}

// unsettled returns the error of the last send. If the topology could not place r within
// a command timeout, the error says so and wraps the server's.
func (r *Request) unsettled() error {
	said := r.Refusal()
	if !r.misplaced || r.Several || !said.Elsewhere() && !said.Unsettled() {
		return r.Wire.Err
	}
	return fmt.Errorf("the servers did not settle in time which of them serves its slot: %w", r.Wire.Err)
}
