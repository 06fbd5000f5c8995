package faults

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// crowd is many callers of few locks that give up at any moment: before, during and after their hold.
type crowd struct {
	*round
	locks                                 []*round
	inside                                []atomic.Int64
	granted, gaveUp, reentered, unsettled atomic.Int64
	unsent                                atomic.Int64 // unlocks that go on in the background, and of which nothing has run
}

// ended judges a call's error. It counts those that a paused server causes.
func (c *crowd) ended(what string, err error, kinds ...string) (kind string) {
	kind = kindOf(err)
	switch {
	case slices.Contains(kinds, kind):
	case kind == uncertain:
		c.unsettled.Add(1)
	case kind == unreachable && strings.HasPrefix(what, "Unlock"):
		c.unsent.Add(1)
	default:
		c.violates("%s: %v", what, err)
	}
	return kind
}

// turn is one call of a caller, whose ctx ends within 30 ms.
func (c *crowd) turn(ctx context.Context, client *rlock.Client) {
	i := rand.N(len(c.locks))
	l := client.NewLock(c.locks[i].name)
	patience, stop := context.WithCancel(ctx)
	defer stop()
	defer time.AfterFunc(rand.N(30*time.Millisecond), stop).Stop()
	began := time.Now()
	h, err := l.Lock(patience)
	kinds := []string{ok, ctxEnded}
	if time.Since(began) >= timeout {
		kinds = append(kinds, unreachable) // the machine stood still for a command timeout
	}
	if c.ended("Lock", err, kinds...) != ok {
		if err != nil && kindOf(err) == ctxEnded {
			c.gaveUp.Add(1)
		}
		return
	}
	c.auditor.believe(h)
	c.granted.Add(1)
	if c.inside[i].Add(1) != 1 {
		c.violates("two are inside %s", l.Name())
	}
	again, err := l.Lock(patience, rlock.As(h.Owner()))
	if c.ended("re-entry", err, ok, ctxEnded) == ok {
		c.reentered.Add(1)
		c.ended("Unlock of a re-entry", again.Unlock(patience), ok)
	}
	if err := h.Err(); err != nil {
		c.violates("a hold in use: %v", err)
	}
	c.inside[i].Add(-1)
	c.ended("Unlock", h.Unlock(patience), ok)
}

// stall is how long the server is paused at a time. A key that waits for its undo is unowned for all of it.
const stall = 300 * time.Millisecond

// storm runs the crowd, and pauses the server for stall after every two seconds.
func storm(stall time.Duration) func(*round) {
	return func(r *round) {
		const names = 20
		c := &crowd{round: r, locks: r.several(names), inside: make([]atomic.Int64, names)}
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(max(*scale, 0.1)*float64(30*time.Second)))
		defer cancel()
		var all sync.WaitGroup
		for n := range r.row.batch {
			all.Go(func() {
				for ctx.Err() == nil {
					c.turn(ctx, []*rlock.Client{r.client, r.rival}[n%2])
				}
			})
		}
		for stall > 0 && ctx.Err() == nil {
			select {
			case <-time.After(2 * time.Second):
				r.server.Pause()
				<-time.After(stall)
				r.server.Resume()
			case <-ctx.Done():
			}
		}
		all.Wait()
		// The last pause is over for a client when one of its calls has returned nil.
		for _, client := range []*rlock.Client{r.client, r.rival} {
			r.expects(soon, "the server is back, and a client has not noticed", func() bool { _, err := client.NewLock(r.name).IsLocked(r.Context()); return err == nil })
		}
		for _, l := range c.locks {
			l.comesFree()
			r.auditor.unwatch(l.name)
		}
		r.row.outcome("acquired", int(c.granted.Load()))
		r.row.outcome("acquired again with `As`", int(c.reentered.Load()))
		r.row.outcome("gave up with ctx's error", int(c.gaveUp.Load()))
		if n := c.unsettled.Load(); n > 0 {
			r.row.outcome(uncertain, int(n))
		}
		if n := c.unsent.Load(); n > 0 {
			r.row.outcome("unlocks not sent when ctx's time was over", int(n))
		}
		r.row.counted(r.row.batch, -1)
	}
}

var storms = []scenario{
	{fault: "200 callers cancel at random for 30 s", by: "the callers' contexts", times: 200, batch: 200, lanes: 1, inexact: true, round: storm(0)},
	{fault: "the same, and the server stands still for 0.3 s every 2 s", by: "the callers' contexts; server: SIGSTOP, SIGCONT", times: 200, batch: 200, lanes: 1,
		inexact: true, latches: true, bound: usualBound + stall, round: storm(stall)},
}
