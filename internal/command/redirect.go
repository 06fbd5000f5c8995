package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/internal/topology"
)

// A command may be answered that it was sent to the wrong place: MOVED, ASK,
// TRYAGAIN, CLUSTERDOWN, READONLY. Or its node leaves before it is written.
// Nothing of it ran. The topology says where it goes, and the executor sends it
// again, for as long as the one command may take; nobody above sees it, but for
// Request.OutOfOrder. What is left of it then is refused, or not sent.

// hastyRedirects is how often a request goes on to the next node at once. Two
// nodes that name each other as the slot's would be asked without end.
const hastyRedirects = 4

// redirected takes the end of a send that did not run where it was sent. It
// reports false if that is for r's maker to deal with.
func (r *Request) redirected() bool {
	x := r.x
	var to topology.Redirection
	said, _ := refusal.Of(r.Wire.Err)
	switch {
	case errors.Is(r.Wire.Err, pipeline.ErrGone):
		to.Again = true
	case said.Redirects():
		to = x.top.Redirect(r.node, r.Slot, said)
	}
	r.misplaced = to.Again
	if to.Redial {
		r.pipe.GiveUp(&r.Wire)
		if r.Resend >= kind.Unrun {
			return false // what is paused anyway is paused: others of its owner may go first
		}
	}
	if !to.Again || r.Scattered() || r.Whole && r.Split() || to.After > 0 && r.Resend != kind.Never {
		return false
	}
	if r.bound == 0 {
		r.bound = r.Wire.Deadline()
	}
	if x.o.Now() >= r.bound {
		return false
	}
	r.OutOfOrder = true
	if r.redirects++; r.redirects > hastyRedirects {
		to.After = max(to.After, firstPause)
	}
	if to.After > 0 {
		if x.o.Closing() {
			return false
		}
		x.mu.Lock()
		x.park(r, to)
		x.mu.Unlock()
		return true
	}
	return x.resend(r, to)
}

// resend sends r to where it belongs now. It reports false when the client is
// closed; then r has the error of that.
func (x *Executor) resend(r *Request, to topology.Redirection) bool {
	x.mu.Lock()
	n, err := to.To, error(nil)
	if n == nil {
		n, err = x.top.Node(r.Slot)
	}
	if err == nil {
		r.to(n)
		pipe := r.pipe
		if pipe.Resend(&r.Wire, r.bound, to.Asking) {
			x.mu.Unlock()
			pipe.WakeWriter()
			return true
		}
		err = r.Wire.Err
	}
	if fateOf(err) == Closed || x.o.Closing() {
		if fateOf(err) == Refused {
			err = Unsent(err) // why no node serves the slot
		}
		r.Wire.Reply, r.Wire.Err = nil, err
		x.mu.Unlock()
		return false
	}
	x.parkUnserved(r, err)
	x.mu.Unlock()
	return true
}

// parkUnserved parks r for want of a node to send it to. It is called with mu
// held, or before anybody else knows r.
func (x *Executor) parkUnserved(r *Request, why error) {
	if fateOf(why) != NotSent {
		why = Unsent(why)
	}
	r.Wire.Reply, r.Wire.Err = nil, why
	if r.bound == 0 {
		r.bound = x.o.Now() + x.o.Timeout
	}
	r.OutOfOrder = true
	x.park(r, topology.Redirection{After: firstPause})
}

// park has r sent again after a pause. It is called with mu held, or before
// anybody else knows r.
func (x *Executor) park(r *Request, to topology.Redirection) {
	r.parked, r.unplaced = &to, r.unsettled()
	r.pause = max(to.After, r.nextPause())
	x.o.After(min(r.pause, max(r.bound-x.o.Now(), time.Millisecond)), func() {
		x.mu.Lock()
		mine := r.parked == &to // or it was taken back, and may wait again
		if mine {
			r.parked = nil
		}
		x.mu.Unlock()
		switch {
		case !mine:
		case x.o.Now() >= r.bound || !x.resend(r, to):
			r.settle()
		}
	})
}

// unsettled is how the last send ended: where the topology could not place r in the
// time that one command may take, the server's last words are a detail of that.
func (r *Request) unsettled() error {
	said := r.refusal()
	if !r.misplaced || r.Several || !said.Elsewhere() && !said.Unsettled() {
		return r.Wire.Err
	}
	return fmt.Errorf("the servers did not settle in time which of them serves its slot: %w", r.Wire.Err)
}
