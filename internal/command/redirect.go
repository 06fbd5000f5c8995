package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/internal/topology"
)

// A command may be answered that it was sent to the wrong place: MOVED, ASK,
// TRYAGAIN, CLUSTERDOWN, READONLY. Or its node leaves before it is written. Nothing
// of it ran. The topology says where it goes, and the executor sends it again as long
// as one command may take; nobody above sees that, but for Request.OutOfOrder. After
// that time it ends as refused, or as not sent.

// hastyRedirects is how often a request goes on to the next node at once. Two
// nodes that name each other as the slot's would be asked without end.
const hastyRedirects = 4

// redirection is where r goes after a send that did not run. It reports false if r's
// maker must deal with that.
func (r *Request) redirection() (to topology.Redirection, again bool) {
	x := r.x
	said, _ := refusal.Of(r.Wire.Err)
	switch {
	case errors.Is(r.Wire.Err, pipeline.ErrGone):
		to.Again = true
	case fateOf(r.Wire.Err) == Refused && said.Redirects(): // not what was said when connecting
		to = x.top.Redirect(r.node, r.Slot, said)
	}
	r.moved = r.moved || r.Moving()
	r.misplaced = to.Again
	if to.Redial {
		r.pipe.GiveUp(&r.Wire)
		if r.Resend >= kind.Unrun {
			return to, false // what is paused anyway is paused: others of its owner may go first
		}
	}
	if !to.Again || r.Scattered() || r.Whole && r.Split() || to.After > 0 && r.Resend != kind.Never {
		return to, false
	}
	if r.bound == 0 {
		r.bound = r.Wire.Deadline()
	}
	if x.o.Now() >= r.bound {
		return to, false
	}
	r.OutOfOrder = true
	if r.redirects++; r.redirects > hastyRedirects {
		to.After = max(to.After, background.FirstPause)
	}
	return to, to.After == 0 || !x.o.Closing()
}

// resend sends r to where it belongs now. It reports false if it could not: then r is
// parked, or has the error that it ends with.
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
		if pipe.Resend(&r.Wire, r.bound, to.Asking) {
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
	r.park(topology.Redirection{After: background.FirstPause})
}

// park has r wait before it is sent to where it belongs. It is called with mu held, or
// before anybody else knows r.
func (r *Request) park(to topology.Redirection) {
	r.parked, r.next, r.delay = true, to, r.unsettled()
}

// follow waits, for a request that is parked, and sends it on. It reports false if it
// could not: then r has ended, or was taken back.
func (x *Executor) follow(r *Request) bool {
	for r.parked {
		r.pause = max(r.next.After, background.NextPause(r.pause))
		for d := min(r.pause, max(r.bound-x.o.Now(), time.Millisecond)); d > 0; d = x.tooLate(r) {
			if !x.pauses(r, d) {
				return false
			}
		}
		if x.o.Now() >= r.bound {
			return false
		}
		if x.resend(r, r.next) {
			return true
		}
	}
	return false
}

// tooLate is how long r waits instead of being sent, because the answer could come after its
// bound, or after its caller is told what is known so far: that nothing has run. 0: it can be
// sent.
func (x *Executor) tooLate(r *Request) time.Duration {
	now := x.o.Now()
	left, pause := r.bound-now, r.bound-now
	if told := r.Told - now; told > 0 && told < left {
		left, pause = told, told+background.FirstPause
	}
	if left <= 0 || left >= x.LeastTime() || x.o.Closing() {
		return 0
	}
	return pause
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
