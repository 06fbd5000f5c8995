package locks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
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

// leaver is a waiter that leaves the server's queue.
type leaver struct {
	l     *Lock
	want  kind.Want
	began time.Duration   // when its wait began
	left  func(on uint64) // called when the server has answered, on the connection with this number
}

// leaveServer takes an owner, which has waited since began, as want says, out of the server's queue. It
// calls left with the number of the connection when the server has answered; until then the client counts it as leaving. The cost
// of a script grows with the length of the server's queue, so waiters that leave while one is
// under way share the next one.
func (n *nameState) leaveServer(l *Lock, want kind.Want, began time.Duration, left func(on uint64)) {
	s := n.lock.shard
	waits, underWay := s.leavers[n]
	s.leavers[n] = append(waits, &leaver{l, want, began, left})
	if !underWay {
		n.sendLeavers()
	}
}

// sendLeavers sends a script for the next leavers, if there are any. It takes those that came
// last: the server has the least to do behind them.
func (n *nameState) sendLeavers() {
	s := n.lock.shard
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
	l, c, sent := part[0].l, s.client, s.Now()
	s.askLater(l.slot, l.kind.Leave(wants...), clock.Never, func(r *command.Request) { // no reply matters but a refusal
		if said := r.Refusal(); said.Forbidden() {
			c.Log.CommandRefused(s, l.server(), "EVALSHA fair_leave", r.Wire.Err)
		}
		if more := len(s.leavers[n]); more == 0 || more >= mostLeave {
			n.sendLeavers()
		} else {
			c.timers.After(min(leavePauses*(s.Now()-sent), longestLeavePause), func() {
				defer s.enter(mayBlock).leave()
				n.sendLeavers()
			})
		}
		for _, o := range part {
			o.left(r.Wire.Connection())
			c.leaverIsAnswered()
		}
	})
}

func (c *Client) leaverIsAnswered() {
	now := time.Now()
	c.lastLeft.Store(&now)
	c.leaving.Done()
}

// awaitLeavers waits until all leavers have left the servers' queues, but no longer than
// patience after the last reply. It returns the instant at which that time is over.
func (c *Client) awaitLeavers(patience time.Duration) time.Time {
	for until := time.Now().Add(patience); ; {
		ctx, cancel := context.WithDeadline(context.Background(), until)
		ended := c.leaving.Wait(ctx.Done(), nil)
		cancel()
		last := c.lastLeft.Load()
		if ended || last == nil || !last.Add(patience).After(until) {
			return until
		}
		until = last.Add(patience)
	}
}
