package rlock

import "time"

const (
	// longestRun bounds how many waiters of this client get the lock one after
	// the other without a moment in which others may. Only another client's
	// attempt between two commands could come in between, and there is no
	// between.
	longestRun = 32

	// echoes are waited for no longer than this; what comes later may be
	// anybody's release.
	echoTime = 100 * time.Millisecond
)

// handoff is what a line knows of passing the lock on within this client: the
// head's acquire follows the unlock in the same write, which costs one round
// trip in the place of three. All processes hear of the unlock as ever, and
// find the lock taken.
type handoff struct {
	run    int           // how many in a row
	handed bool          // one has happened since the line subscribed
	echoes int           // messages that are still to come and say nothing new
	until  time.Duration // when they are not waited for any more
	due    time.Duration // this client released, and the head tries by then if no message comes; 0: nothing is due
}

// handOff lets the head's acquire follow an unlock that has just been queued.
// Without it the head waits for the message like everybody else. It is called
// with the shard locked, and reports whether the message is of no use to this
// client: the lock was handed on, or nobody waits, and who comes looks anyway.
func (ln *line) handOff() bool {
	w := ln.head
	if w == nil && ln.loose.size > 0 {
		// A try outside the queue may be on its way to a refusal that this
		// unlock comes too late for.
		return false
	}
	if ln.current != nil || w != nil && (ln.trouble.err != nil || ln.run >= longestRun || ln.yields(w) > 0) {
		ln.run = 0
		ln.due = ln.n.c.early() + echoTime
		if ln.current == nil {
			ln.blindly(beats)
		}
		ln.arm()
		return false
	}
	if ln.heard {
		ln.echoes++
		ln.until = ln.n.c.early() + echoTime
	}
	if w != nil {
		ln.run++
		ln.handed = true
		ln.attempt(w)
		ln.current.handed = true
	}
	return true
}

// echo tells whether a message is one of this client's own that is no reason
// to look.
func (ln *line) echo() bool {
	now := ln.n.c.early()
	if t := ln.n.turn; t != nil {
		t.Heard(now)
	}
	if ln.echoes == 0 {
		return false
	}
	ln.echoes--
	return now < ln.until
}

// noEcho follows a hand-off of which one half went wrong: the unlock did not
// run at once, or not at all, or the acquire was not granted. Messages count
// again, and one that was taken for an echo is made up for.
func (n *name) noEcho() {
	if ln := n.line; ln != nil {
		if ln.echoes == 0 {
			ln.flag = true
		}
		ln.echoes = 0
	}
}
