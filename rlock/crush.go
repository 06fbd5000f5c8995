package rlock

import (
	"math/rand/v2"
	"time"
)

const (
	// quickBeat is how fast releases must follow each other for a client to let
	// some of their messages pass. A crowd's own tries slow them down, on a slow
	// server to half a millisecond.
	quickBeat = 600 * time.Microsecond

	// beats is over how many of them its next try is spread, but no further
	// than longestDodge. A message that comes before the try is made leaves its
	// time as it is: a client that gets its share of the processor late would
	// else put it off again each time.
	beats        = 48
	longestDodge = 10 * time.Millisecond

	// manyClients is from how many subscribed clients on one stays away, after
	// so many quick messages in a row.
	manyClients = 6
	manyQuick   = 8

	// absence is how long it stays away. Meanwhile its tries are spread over
	// fewBeats, but never further than longestBlind: until then nothing would
	// tell it that the crowd has gone.
	absence      = 25 * time.Millisecond
	fewBeats     = 64
	longestBlind = 3 * time.Millisecond
)

// crush is what a line knows of a name that goes from hand to hand so fast that
// nearly every try comes too late. Each message wakes one waiter of every
// client, and where there are many, the server is busy with refusing them. So
// the tries of a client are spread over some beats, of which the messages in
// between ask for nothing more.
//
// Where the clients are many, the server is busier still with telling all of
// them of each release. Then a client that is not inside leaves the channel for
// a while and goes by the clock alone. Those who stay, or come back, see fewer
// subscribers and stay.
type crush struct {
	beat  time.Duration // between two messages, on average; 0: not known
	last  time.Duration // message; 0: none since the line subscribed
	start time.Duration // no try before, for this reason; 0: none since the last try
	quick int           // messages in a row that came fast
	back  time.Duration // when the line subscribes again; 0: it has, or never did
}

// rush takes note of a message that asks for a try.
func (ln *line) rush() {
	now := ln.n.c.early()
	gap := min(now-ln.last, 10*quickBeat)
	if ln.last == 0 && ln.beat > 0 {
		gap = ln.beat
	}
	if ln.last = now; ln.beat == 0 {
		ln.beat = gap
	}
	ln.beat += (gap - ln.beat) / 8
	if ln.beat >= quickBeat {
		ln.start, ln.quick = 0, 0
		return
	}
	if ln.start == 0 {
		ln.start = now + rand.N(min(ln.beat*beats, longestDodge)+1)
	}
	if ln.quick++; ln.quick >= manyQuick && ln.crowded() {
		ln.depart(now)
	}
}

// crowded tells whether so many listen that leaving them is a relief.
func (ln *line) crowded() bool {
	t := ln.n.turn
	return t != nil && t.Counted() >= manyClients && t.Hold() < shortHold
}

// depart leaves the channel for a while.
func (ln *line) depart(now time.Duration) {
	if ln.sub == nil || ln.size == 0 {
		return
	}
	ln.mute()
	ln.echoes = 0
	ln.back = now + absence
}

// away tells whether the line stays off its channel.
func (ln *line) away() bool { return ln.back > 0 && ln.n.c.early() < ln.back }

// blindly sees to the next try of a line that no message would tell when: it
// is made within some beats, or told by the channel, if it is time to come back.
func (ln *line) blindly(within time.Duration) {
	switch {
	case ln.away():
		ln.flag = true
		ln.start = ln.n.c.early() + rand.N(min(ln.beat*within, longestBlind)+1)
		ln.polite = ln.start
		ln.arm()
	case ln.back > 0:
		ln.listen()
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
