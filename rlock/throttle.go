package rlock

import (
	"math/rand/v2"
	"time"
)

const (
	// quickInterval is how fast releases must follow each other for a client to let
	// some of their messages pass. A crowd's own tries slow them down, on a slow
	// server to half a millisecond.
	quickInterval = 600 * time.Microsecond

	// spreadIntervals is over how many of them its next try is spread, but no further
	// than longestDodge. A message that comes before the try is made leaves its
	// time as it is: a client that gets its share of the processor late would
	// else put it off again each time.
	spreadIntervals = 48
	longestDelay    = 10 * time.Millisecond

	// manyClients is from how many subscribed clients on one stays away, after
	// so many quick messages in a row.
	manyClients       = 6
	manyQuickReleases = 8

	// resubscribeAfter is how long it stays away. Meanwhile its tries are spread over
	// fewBeats, but never further than longestBlind: until then nothing would
	// tell it that the crowd has gone.
	resubscribeAfter = 25 * time.Millisecond
	pollIntervals    = 64
	longestPoll      = 3 * time.Millisecond
)

// throttle is what a queue knows of a name that goes from hand to hand so fast that
// nearly every try comes too late. Each message wakes one waiter of every
// client, and where there are many, the server is busy with refusing them. So
// the tries of a client are spread over some intervals, of which the messages in
// between ask for nothing more.
//
// Where the clients are many, the server is busier still with telling all of
// them of each release. Then a client that is not inside leaves the channel for
// a while and goes by the clock alone. Those who stay, or come back, see fewer
// subscribers and stay.
type throttle struct {
	interval      time.Duration // between two messages, on average; 0: not known
	lastRelease   time.Duration // message; 0: none since the queue subscribed
	delayedUntil  time.Duration // no try before, for this reason; 0: none since the last try
	quickReleases int           // messages in a row that came fast
	resubscribeAt time.Duration // when the queue subscribes again; 0: it has, or never did
}

// observeRelease takes note of a message that asks for a try.
func (q *waitQueue) observeRelease() {
	now := q.n.c.early()
	gap := min(now-q.lastRelease, 10*quickInterval)
	if q.lastRelease == 0 && q.interval > 0 {
		gap = q.interval
	}
	if q.lastRelease = now; q.interval == 0 {
		q.interval = gap
	}
	q.interval += (gap - q.interval) / 8
	if q.interval >= quickInterval {
		q.delayedUntil, q.quickReleases = 0, 0
		return
	}
	if q.delayedUntil == 0 {
		q.delayedUntil = now + rand.N(min(q.interval*spreadIntervals, longestDelay)+1)
	}
	if q.quickReleases++; q.quickReleases >= manyQuickReleases && q.crowded() {
		q.unsubscribeForAWhile(now)
	}
}

// crowded tells whether so many listen that leaving them is a relief.
func (q *waitQueue) crowded() bool {
	share := q.n.fairShare
	return share != nil && share.Counted() >= manyClients && share.AverageHold() < shortHold
}

// unsubscribeForAWhile leaves the channel for a while.
func (q *waitQueue) unsubscribeForAWhile(now time.Duration) {
	if q.sub == nil || q.size == 0 {
		return
	}
	q.unsubscribe()
	q.ownMessages = 0
	q.resubscribeAt = now + resubscribeAfter
}

// unsubscribed tells whether the queue stays off its channel.
func (q *waitQueue) unsubscribed() bool {
	return q.resubscribeAt > 0 && q.n.c.early() < q.resubscribeAt
}

// pollWithin sees to the next try of a queue that no message would tell when: it
// is made within some intervals, or told by the channel, if it is time to come back.
func (q *waitQueue) pollWithin(within time.Duration) {
	switch {
	case q.unsubscribed():
		q.wakePending = true
		q.delayedUntil = q.n.c.early() + rand.N(min(q.interval*within, longestPoll)+1)
		q.notBefore = q.delayedUntil
		q.arm()
	case q.resubscribeAt > 0:
		q.subscribe()
	}
}

// delayUntil is the instant before which w, the head, makes no attempt, 0 if it may
// try now. Who was never told that the lock is taken, or has no time left
// then, does not wait for it.
func (q *waitQueue) delayUntil(w *waiter) time.Duration {
	if q.delayedUntil <= q.n.c.early() || !w.wasRefused() || w.until > 0 && w.until <= q.delayedUntil {
		return 0
	}
	return q.delayedUntil
}
