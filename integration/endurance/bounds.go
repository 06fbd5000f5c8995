package main

import (
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

// inTime judges how long a call took. What the machine stood still meanwhile comes on top.
func (r *round) inTime(c *client, o op, rep reply) {
	most := c.bound(o)
	took := time.Duration(rep.End - rep.Start)
	if took <= most+delay {
		return
	}
	if o.Do == doTry && c.heardOfAttempt(rep.Start, rep.End) {
		most += c.set.Timeout // that was an answer, and the next may take as long
	}
	if stood := r.machine.settled(rep.Start, rep.End); took > most+delay+2*stood {
		r.violate("bound", "%v of client %d took %v, at most %v is documented (the machine stood still for %v): %v", o, c.n, took, most, stood, rep)
	}
}

// bound is how long a call may take.
func (c *client) bound(o op) time.Duration {
	t := c.set.Timeout
	most := time.Duration(0)
	switch o.Do {
	case doTry:
		// One timeout until it is written, behind its owner's earlier command or without a connection, one for the reply.
		most = 2 * t
	case doTryFor:
		most = o.Wait
	case doLock, doClose:
		most = t
	case doExtend:
		most = t
	case doUnlock, doUnlockAs:
		most = 4*t + time.Second
		if o.Ctx > 0 {
			most = min(most, o.Ctx+t)
		}
		return most
	case doForce:
		return 3 * t // it asks for the key's type first, and that its script is not known is an answer too
	case doShutdown:
		if c.unlocking() {
			return 6*t + time.Second // it waits for the outcome
		}
		return 2 * t
	}
	if o.Do == doLock {
		return o.Ctx
	}
	if o.Ctx > 0 {
		most = min(most, o.Ctx)
	}
	return most
}

// unlocking tells whether an unlock of the client may go on in the background.
func (c *client) unlocking() bool {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	for _, k := range c.r.calls {
		if k.c == c && (k.Do == doUnlock || k.Do == doUnlockAs) && (k.is("uncertain") || strings.Contains(k.Text, "goes on in the background")) {
			return true
		}
	}
	return false
}

// heardOfAttempt tells whether the server said meanwhile that it does not know an acquire's script, or what a lost one has done.
func (c *client) heardOfAttempt(from, to int64) bool {
	for _, w := range c.record() {
		said, is := w.reply.(faultproxy.Error)
		unknown := is && w.what == acquire && strings.HasPrefix(string(said), "NOSCRIPT")
		if (unknown || w.what == hget) && w.answered >= from && w.answered <= to {
			return true
		}
	}
	return false
}
