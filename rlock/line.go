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

	// linger is how long a line that hands the lock on within this client
	// stays subscribed when nobody waits in it: those who have just released
	// tend to come back.
	linger = 50 * time.Millisecond

	// spareLines bounds how many lines a shard keeps for the next name.
	spareLines = 8
)

// line is the queue of one name's waiters (A3). One attempt is in flight for
// all of them, the head's. It is made when something says that a look is
// worth while: the line has just formed, a message came, a subscription was
// confirmed, the lease that was last heard of has ended, or one of this
// client releases. That something is the line's flag and not the head's, so a
// head that gives up takes nothing with it. All of it is guarded by the
// shard's mutex.
type line struct {
	s    *shard
	n    *name // whose it is
	next *line // among the spare ones

	ring
	loose   ring // waiters whose attempts are made outside the queue
	current *attempt
	flag    bool
	bound   time.Duration // look by then at the latest
	polite  time.Duration // and not before then, although the flag is up
	timer   *time.Timer
	armed   time.Duration // what the timer is set to; 0: not set
	sub     *pubsub.Subscription
	heard   bool // the subscription was confirmed
	epoch   int  // counts subscriptions, so that an old one's calls are told apart
	answers int  // "taken", or a grant to one of the line
	trouble trouble

	handoff
	crush
	quit time.Duration // when a line that nobody waits in leaves its channel; 0: not decided
}

// tidy gives the line back if nobody waits in it and nothing is under way.
func (ln *line) tidy() {
	if ln.size > 0 || ln.loose.size > 0 || ln.current != nil || ln.sub != nil {
		return
	}
	ln.end()
	ln.n.line = nil
	if ln.s.spares < spareLines {
		ln.next, ln.s.spare = ln.s.spare, ln
		ln.s.spares++
	}
}

// push queues w. A line that forms looks at once, unless this client holds the
// lock, of whose end it hears.
func (ln *line) push(w *waiter) {
	now := ln.n.c.early()
	w.answers, w.joined = ln.answers, now
	if ln.size == 0 && ln.current == nil {
		if t := ln.n.turn; t != nil {
			t.Arrived(now)
		}
		if ln.heard && !ln.flag && now < ln.look() && ln.n.held() {
			w.answers--
		} else {
			ln.flag = true
		}
	}
	ln.ring.push(w)
}

// step does what is due: an attempt for the head, or setting the clock for
// the next. It is called after every event.
func (ln *line) step() {
	if ln.back > 0 && ln.size > 0 {
		ln.listen() // if it is time
	}
	if ln.current != nil {
		ln.arm()
		return
	}
	w := ln.head
	if w == nil {
		ln.rest()
		return
	}
	ln.quit = 0
	if !ln.flag && ln.n.c.now() < ln.look() {
		ln.arm()
		return
	}
	if ln.polite = max(ln.yields(w), ln.dodges(w)); ln.polite > 0 {
		ln.flag = true
		ln.listen()
		ln.arm()
		return
	}
	ln.run = 0
	ln.attempt(w)
}

// look is when the head tries at the latest, flag or not.
func (ln *line) look() time.Duration {
	if ln.due > 0 {
		return min(ln.bound, ln.due)
	}
	return ln.bound
}

// attempt makes an attempt for w, the head.
func (ln *line) attempt(w *waiter) {
	ln.flag, ln.polite, ln.due, ln.start = false, 0, 0, 0
	ln.current = ln.n.try(w)
	ln.arm()
}

// rest follows the last waiter's going.
func (ln *line) rest() {
	if ln.sub != nil && ln.handed && !ln.n.c.closed() {
		now := ln.n.c.early()
		if ln.quit == 0 {
			ln.quit = now + linger
			ln.trouble.clear()
		}
		if now < ln.quit {
			ln.arm()
			return
		}
	}
	ln.end()
	ln.n.tidy()
}

// arm sets the timer to the next instant at which something is due without
// being told.
func (ln *line) arm() {
	at := clock.Never
	switch {
	case ln.size == 0:
		if ln.quit > 0 {
			at = ln.quit
		}
	case ln.current == nil && ln.flag:
		at = ln.polite
	case ln.current == nil:
		at = ln.look()
	}
	if ln.back > 0 && ln.size > 0 {
		at = min(at, ln.back)
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
	ln.s.lock()
	n := ln.n
	if n.line != ln {
		// It has been given back meanwhile.
		ln.s.unlock()
		return
	}
	ln.armed = 0
	ln.despair()
	ln.step()
	ln.s.unlock()
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
	if ln.sub != nil || ln.away() {
		return
	}
	ln.epoch++
	ln.back, ln.quick, ln.last = 0, 0, 0
	ln.sub = ln.n.c.node.hub.Subscribe(ln.n.l.channel.(string), &ear{s: ln.s, kind: ln.n.l.kind, ln: ln, epoch: ln.epoch})
}

// end leaves nothing of a line that nobody waits in (P1, E2).
func (ln *line) end() {
	ln.mute()
	if ln.timer != nil {
		ln.timer.Stop()
		ln.armed = 0
	}
	ln.flag = false
	ln.crush = crush{}
	ln.bound, ln.polite, ln.quit = 0, 0, 0
	ln.handoff = handoff{}
	ln.trouble.clear()
}

// mute leaves the channel.
func (ln *line) mute() {
	if ln.sub != nil {
		ln.sub.Close()
		ln.sub = nil
		ln.epoch++
	}
	ln.heard = false
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
			w.fail(w.unreachable(ln.trouble.err))
		}
		w = next
	}
}

// reenter lets waiters through whose owner has just come to hold the name by
// another call: they would wait for themselves (A3).
func (n *name) reenter(o Owner) {
	ln := n.line
	if ln == nil || ln.shared == 0 {
		return
	}
	for w := ln.head; w != nil; {
		next := w.next
		if w.terms.as && w.terms.owner == o && w.attempt == nil {
			ln.remove(w)
			ln.loose.push(w)
			n.try(w)
		}
		w = next
	}
}

// ear is what the hub wakes: a line, by one of its subscriptions.
type ear struct {
	s     *shard
	kind  *kind
	ln    *line
	epoch int
}

// Confirmed makes the head look: what was published before is gone (P2).
func (e *ear) Confirmed() { e.wake(false) }

// Message makes the head look, if its kind of lock says so.
func (e *ear) Message(payload []byte) {
	if e.kind.wakes(payload) {
		e.wake(true)
	}
}

// wake raises the flag (P3).
func (e *ear) wake(released bool) {
	ln := e.ln
	e.s.lock()
	if e.epoch != ln.epoch {
		e.s.unlock()
		return
	}
	n := ln.n
	ln.heard = true
	if !released {
		ln.echoes, ln.flag = 0, true
	} else if !ln.echo() {
		ln.flag = true
		ln.rush()
	}
	ln.step()
	e.s.unlock()
	n.c.node.pipe.Kick()
}

// Refused ends the waits: without a subscription nobody would be woken.
func (e *ear) Refused(err error) {
	ln := e.ln
	e.s.lock()
	defer e.s.unlock()
	if e.epoch != ln.epoch {
		return
	}
	n := ln.n
	err = fmt.Errorf("subscribe to %s: %w", quote(n.l.channel.(string)), err)
	for ln.head != nil {
		ln.head.fail(err)
	}
	ln.end()
	n.step()
}
