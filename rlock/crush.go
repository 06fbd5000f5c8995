package rlock

import (
	"math/rand/v2"
	"time"
)

const (
	// quickBeat is how fast releases must follow each other for a client to let
	// some of their messages pass.
	quickBeat = 300 * time.Microsecond

	// beats is over how many of them its next try is spread.
	beats = 16
)

// crush is what a line knows of a name that goes from hand to hand so fast that
// nearly every try comes too late. Each message wakes one waiter of every
// client, and where there are many, the server is busy with refusing them. So
// the tries of a client are spread over some beats, of which the messages in
// between ask for nothing more.
type crush struct {
	beat  time.Duration // between two messages, on average; 0: not known
	last  time.Duration // message
	start time.Duration // no try before, for this reason; 0: none
}

// rush takes note of a message that asks for a try.
func (ln *line) rush() {
	now := ln.n.c.early()
	gap := min(now-ln.last, 10*quickBeat)
	if ln.last = now; ln.beat == 0 {
		ln.beat = gap
	}
	ln.beat += (gap - ln.beat) / 8
	if ln.beat >= quickBeat {
		ln.start = 0
	} else if ln.start <= now {
		ln.start = now + rand.N(ln.beat*beats+1)
	}
}

// dodges is the instant before which w, the head, makes no attempt, 0 if it may
// try now. Who was never told that the lock is taken, or has no time left
// then, does not wait for it.
func (ln *line) dodges(w *waiter) time.Duration {
	if ln.start <= ln.n.c.early() || !w.wasTold() || w.until > 0 && w.until <= ln.start {
		return 0
	}
	return ln.start
}
