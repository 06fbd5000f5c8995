package lockstate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/section"
)

const (
	// mostLeave bounds how many waiters one script takes out of the server's queue: the
	// server does nothing else meanwhile.
	mostLeave = 1000

	// A smaller script waits leavePauses times as long as the last one took, and at most
	// longestLeavePause, so that more leavers share it.
	leavePauses       = 8
	longestLeavePause = 250 * time.Millisecond
)

// leaver is a waiter that leaves the server's queue. It occupies its owner's command
// queue until the server has answered.
type leaver struct {
	st    *OwnerState
	l     *Lock
	want  kind.Want
	began time.Duration // when its wait began
}

// newLeaver makes a leaver for an owner that has waited since began, as want says. It counts as
// leaving until the server has answered, so begin must follow.
func (st *OwnerState) newLeaver(l *Lock, want kind.Want, began time.Duration) *leaver {
	l.c.leaving.Add()
	return &leaver{st, l, want, began}
}

// begin is called with the shard locked, in the owner's command queue. The cost of a script
// grows with the length of the server's queue, so waiters that leave while one is under way
// share the next one.
func (o *leaver) begin() {
	n := o.st.n
	s := n.l.s
	waits, underWay := s.leavers[n]
	s.leavers[n] = append(waits, o)
	if !underWay {
		n.sendLeavers()
	}
}

// sendLeavers sends a script for the next leavers, if there are any. It takes those that came
// last: the server has the least to do behind them.
func (n *name) sendLeavers() {
	s := n.l.s
	all := s.leavers[n]
	if len(all) == 0 {
		delete(s.leavers, n)
		return
	}
	if len(all) > mostLeave {
		slices.SortStableFunc(all, func(a, b *leaver) int { return cmp.Compare(a.began, b.began) })
	}
	rest := max(len(all)-mostLeave, 0)
	part := slices.Clone(all[rest:])
	s.leavers[n] = all[:rest]
	wants := make([]*kind.Want, len(part))
	for i, o := range part {
		wants[i] = &o.want
	}
	l, c, sent := part[0].l, n.l.c, n.now()
	l.askLater(l.Kind.Leave(wants...), clock.Never, func(any, error) { // the reply does not matter
		if more := len(s.leavers[n]); more == 0 || more >= mostLeave {
			n.sendLeavers()
		} else {
			c.Timers.After(min(leavePauses*(n.now()-sent), longestLeavePause), func() {
				defer s.Enter(section.MayBlock).Leave()
				n.sendLeavers()
			})
		}
		for _, o := range part {
			o.st.done()
			c.leaving.Done()
		}
	})
}

// awaitLeavers waits until all leavers have left the servers' queues, but no longer than
// patience after the last reply. It returns when that time would be over.
func (c *State) awaitLeavers(patience time.Duration) time.Time {
	for {
		until, open := time.Now().Add(patience), c.leaving.Count()
		ctx, cancel := context.WithDeadline(context.Background(), until)
		ended := c.leaving.Wait(ctx.Done(), nil)
		cancel()
		if ended || c.leaving.Count() == open {
			return until
		}
	}
}
