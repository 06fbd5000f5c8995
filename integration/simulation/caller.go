package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// caller is a Caller of the plan at work.
type caller struct {
	Caller
	*play
	r    *rand.Rand // its own
	proc *process
	o    *object
	name string
	turn int
	who  string // name and number of its present turn
}

// work calls until the play is over.
func (c *caller) work() {
	for n := 0; !c.isOver(); n++ {
		switch {
		case c.Quiet:
			time.Sleep(between(c.r, 0, 20*time.Second))
		case c.r.IntN(4) > 0: // else a lone caller goes on at once
			time.Sleep(between(c.r, 0, 300*time.Millisecond))
		}
		c.turn, c.who = n, fmt.Sprintf("%s.%d", c.name, n)
		l := c.proc.client()
		switch c.o.Kind {
		case Semaphore:
			c.useSemaphore(l)
		case Permits:
			c.usePermits(l)
		case Latch:
			c.useLatch(l)
		default:
			c.useLock(l)
		}
	}
}

func (p *play) isOver() bool {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	return p.over
}

// ask is one call of the library: how it is judged, and the context that it gets.
type ask struct {
	*call
	ctx context.Context
	end func()
}

// ask begins a call. A bound of 0 is none. One that may be cancelled is, at bad moments.
func (c *caller) ask(l *life, what string, bound, grace time.Duration, cancel bool) *ask {
	a := &ask{call: &call{o: c.o, l: l, who: c.who, what: what, host: c.proc.host, grace: grace}}
	ctx, stop := context.WithCancel(context.Background())
	a.ctx = ctx
	if bound > 0 {
		a.by = time.Now().Add(bound)
	}
	c.begin(a.call)
	unwatch := context.AfterFunc(ctx, func() { c.cancelled(a.call) })
	if cancel {
		c.mayCancel(a.call, &stop)
	}
	a.end = func() { unwatch(); stop() }
	return a
}

// done ends it.
func (c *caller) done(a *ask, err error) {
	c.mayNotCancel(a.call)
	a.end()
	c.end(a.call, err)
}

// set changes what is known of a call that has begun.
func (a *ask) set(f func(*call)) {
	a.o.p.w.Mu.Lock()
	defer a.o.p.w.Mu.Unlock()
	f(a.call)
}

// timeout limits the context of a call.
func (a *ask) timeout(d time.Duration) {
	ctx, stop := context.WithTimeout(a.ctx, d)
	was := a.end
	a.ctx, a.end = ctx, func() { stop(); was() }
	a.set(func(k *call) {
		if by := time.Now().Add(d + k.grace); k.by.IsZero() || by.Before(k.by) {
			k.by = by
		}
	})
}

// ownerOf is an owner's text. To ask the hold for it would change which unlock is sent.
func ownerOf(h *rlock.Hold) string {
	text := h.String()
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] == ' ' {
			return text[i+1 : len(text)-1]
		}
	}
	return ""
}

// pause is how long a holder works.
func (c *caller) pause() time.Duration {
	switch {
	case c.r.IntN(12) == 0:
		return between(c.r, 0, 45*time.Second)
	case c.r.IntN(3) == 0:
		return 0
	}
	return between(c.r, 0, 200*time.Millisecond)
}

// stay waits while a hold lasts, until its time is up, or somebody was refused.
func (h *hold) stay(d time.Duration, done <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-h.now:
	case <-done:
	}
}
