package rlock

import (
	"math/rand/v2"
	"time"
)

const (
	// quickInterval is how fast releases must follow each other before a client
	// ignores some of their messages. The attempts of many clients slow the
	// releases down, on a slow server to half a millisecond.
	quickInterval = 600 * time.Microsecond

	// spreadIntervals is over how many intervals the next attempt is spread,
	// but no further than longestDelay. A message that comes before the attempt
	// leaves its time as it is. Otherwise a client that gets little processor
	// time would put its attempt off at each message.
	spreadIntervals = 48
	longestDelay    = 10 * time.Millisecond

	// A client unsubscribes for a while when at least manyClients are
	// subscribed, after manyQuickReleases messages in a row that came fast.
	manyClients       = 6
	manyQuickReleases = 8

	// resubscribeAfter is how long it stays unsubscribed. Meanwhile its
	// attempts are spread over pollIntervals, but never further than
	// longestPoll: no message would tell it that the other clients have gone.
	resubscribeAfter = 25 * time.Millisecond
	pollIntervals    = 64
	longestPoll      = 3 * time.Millisecond
)

// throttle is what a queue knows of a lock that changes hands so fast that
// nearly every attempt comes too late. Each message wakes one waiter of every
// client. With many clients the server is busy with refusing them. So each
// client spreads its attempts over some intervals and ignores the messages in
// between.
//
// With very many clients the server is busy with publishing each release to all
// of them. Then a client that does not hold the lock unsubscribes for a while
// and polls. The clients that stay, or come back, see fewer subscribers and
// stay.
type throttle struct {
	interval      time.Duration // between two messages, on average; 0: not known
	lastRelease   time.Duration // its message; 0: none since the queue subscribed
	delayedUntil  time.Duration // the next attempt; 0: not delayed
	quickReleases int           // messages in a row that came fast
	resubscribeAt time.Duration // when the queue subscribes again; 0: it has, or never did
}

// observeRelease records a message that asks for an attempt.
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

// crowded tells whether so many clients are subscribed that one should
// unsubscribe for a while.
func (q *waitQueue) crowded() bool {
	share := q.n.fairShare
	return share != nil && share.Counted() >= manyClients && share.AverageHold() < shortHold
}

// unsubscribeForAWhile ends the subscription and sets the time of the next.
func (q *waitQueue) unsubscribeForAWhile(now time.Duration) {
	if q.sub == nil || q.size == 0 {
		return
	}
	q.unsubscribe()
	q.ownMessages = 0
	q.resubscribeAt = now + resubscribeAfter
}

// unsubscribed tells whether it is too early to subscribe again.
func (q *waitQueue) unsubscribed() bool {
	return q.resubscribeAt > 0 && q.n.c.early() < q.resubscribeAt
}

// pollWithin plans the next attempt of a queue that is unsubscribed for a
// while: at random within so many intervals. When the time is over it
// subscribes.
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

// delayUntil is the instant before which w, the head, makes no attempt, 0 if it
// may try now. A waiter that was never refused is not delayed, nor is one whose
// wait would elapse before.
func (q *waitQueue) delayUntil(w *waiter) time.Duration {
	if q.delayedUntil <= q.n.c.early() || !w.wasRefused() || w.until > 0 && w.until <= q.delayedUntil {
		return 0
	}
	return q.delayedUntil
}
