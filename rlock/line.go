package rlock

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/pubsub"
)

const (
	// A key without a TTL, or with an absurd one, is looked at this often: a
	// bound for waits that no message ends.
	longestWait = time.Minute

	// A PTTL of 0 must not make a waiter spin.
	shortestWait = time.Millisecond
)

// line is the queue of one name's waiters (A3). One attempt is in flight for
// all of them, the head's. It is made when something says that a look is
// worth while: the line has just formed, a message came, a subscription was
// confirmed, or the lease that was last heard of has ended. That something is
// the line's flag and not the head's, so a head that gives up takes nothing
// with it. All of it is guarded by the shard's mutex.
type line struct {
	n *name
	ring
	current *attempt
	flag    bool
	bound   time.Duration // look by then at the latest
	timer   *time.Timer
	armed   time.Duration // what the timer is set to; 0: not set
	sub     *pubsub.Subscription
	heard   bool // the subscription was confirmed
	epoch   int  // counts subscriptions, so that an old one's calls are told apart
	answers int  // "taken", or a grant to one of the line
	trouble trouble
}

// idle tells a line that nobody waits in and nothing is under way for.
func (ln *line) idle() bool { return ln.size == 0 && ln.current == nil && ln.n.loose.size == 0 }

// push queues w. A line that forms looks at once.
func (ln *line) push(w *waiter) {
	w.answers, w.joined = ln.answers, ln.n.c.early()
	if ln.size == 0 && ln.current == nil && ln.sub == nil {
		ln.flag = true
	}
	ln.ring.push(w)
}

// step does what is due: an attempt for the head, or setting the clock for
// the next. It is called after every event.
func (ln *line) step() {
	if ln.current != nil {
		ln.arm()
		return
	}
	w := ln.head
	if w == nil {
		ln.end()
		ln.n.tidy()
		return
	}
	if !ln.flag && ln.n.c.now() < ln.bound {
		ln.arm()
		return
	}
	ln.flag = false
	ln.current = ln.n.try(w)
	ln.arm()
}

// arm sets the timer to the next instant at which something is due without
// being told.
func (ln *line) arm() {
	at := clock.Never
	if ln.current == nil && ln.size > 0 {
		at = ln.bound
	}
	if ln.trouble.err != nil && ln.size > 0 {
		at = min(at, ln.n.c.now()+ln.n.c.o.timeout/4)
	}
	// A tick that comes early does no harm and sets the timer anew.
	if at == clock.Never || ln.armed != 0 && ln.armed <= at {
		return
	}
	ln.armed = at
	d := max(at-ln.n.c.now(), 0)
	if ln.timer == nil {
		ln.timer = time.AfterFunc(d, ln.tick)
	} else {
		ln.timer.Reset(d)
	}
}

func (ln *line) tick() {
	n := ln.n
	n.s.lock()
	ln.armed = 0
	ln.despair()
	ln.step()
	n.s.unlock()
	n.c.node.pipe.Kick()
}

// taken follows an answer to the line's attempt that the name is taken for
// ttl, by others or by a grant to one of the line: whoever waits was told so
// now.
func (ln *line) taken(ttl time.Duration) {
	ln.answers++
	ln.trouble.clear()
	if ttl < 0 || ttl > longestWait {
		ttl = longestWait
	}
	ln.bound = ln.n.c.early() + max(ttl, shortestWait)
	if ln.size > 0 {
		ln.listen()
	}
}

// listen subscribes if nobody has (A2).
func (ln *line) listen() {
	if ln.sub != nil {
		return
	}
	ln.epoch++
	ln.heard = false
	ln.sub = ln.n.c.node.hub.Subscribe(ln.n.l.channel, &ear{ln: ln, epoch: ln.epoch})
}

// end leaves nothing of a line that nobody waits in (P1, E2).
func (ln *line) end() {
	if ln.sub != nil {
		ln.sub.Close()
		ln.sub = nil
		ln.epoch++
	}
	if ln.timer != nil {
		ln.timer.Stop()
		ln.armed = 0
	}
	ln.flag = false
	ln.trouble.clear()
}

// troubled follows an attempt that failed in a way that trying again may
// mend: it is made again after a pause, and whoever was never answered gives
// up when trouble has lasted a command timeout (A7).
func (ln *line) troubled(err error, since time.Duration) {
	ln.trouble.add(err, since)
	ln.bound = ln.n.c.now() + ln.trouble.pause
	ln.flag = false
	ln.despair()
}

// despair fails the waiters whose patience with a silent server has ended.
func (ln *line) despair() {
	if ln.trouble.err == nil {
		return
	}
	now := ln.n.c.now()
	for w := ln.head; w != nil; {
		next := w.next
		if !w.wasTold() && now-max(w.joined, ln.trouble.since) >= ln.n.c.o.timeout {
			w.fail(ln.n.c.unreachable(ln.trouble.err))
		}
		w = next
	}
}

// reenter lets waiters through whose owner has just come to hold the name by
// another call: they would wait for themselves (A3).
func (ln *line) reenter(o Owner) {
	if ln.shared == 0 {
		return
	}
	for w := ln.head; w != nil; {
		next := w.next
		if w.terms.as && w.terms.owner == o && w.attempt == nil {
			ln.remove(w)
			ln.n.loose.push(w)
			ln.n.try(w)
		}
		w = next
	}
}

// ear is what the hub wakes: a line, by one of its subscriptions.
type ear struct {
	ln    *line
	epoch int
}

// Confirmed makes the head look: what was published before is gone (P2).
func (e *ear) Confirmed() { e.wake(true) }

// Message makes the head look, if its kind of lock says so.
func (e *ear) Message(payload []byte) {
	if e.ln.n.kind.wakes(payload) {
		e.wake(false)
	}
}

// wake raises the flag (P3).
func (e *ear) wake(heard bool) {
	ln := e.ln
	n := ln.n
	n.s.lock()
	if e.epoch != ln.epoch {
		n.s.unlock()
		return
	}
	ln.heard = ln.heard || heard
	ln.flag = true
	ln.step()
	n.s.unlock()
	n.c.node.pipe.Kick()
}

// Refused ends the waits: without a subscription nobody would be woken.
func (e *ear) Refused(err error) {
	ln := e.ln
	n := ln.n
	n.s.lock()
	defer n.s.unlock()
	if e.epoch != ln.epoch {
		return
	}
	err = fmt.Errorf("subscribe to %s: %w", quote(n.l.channel), err)
	for ln.head != nil {
		ln.head.fail(err)
	}
	ln.end()
	ln.step()
}
