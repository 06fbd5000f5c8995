package waitqueue

import "time"

const (
	// quickInterval is how fast releases must follow each other before a client ignores
	// some of their messages. The attempts of many clients slow the releases down, on a
	// slow server to half a millisecond.
	quickInterval = 600 * time.Microsecond

	// The next attempt is spread over spreadIntervals intervals, but over longestDelay at
	// most. A message that comes before the attempt does not move it. Otherwise a client
	// that gets little processor time would delay its attempt at each message.
	spreadIntervals = 48
	longestDelay    = 10 * time.Millisecond

	// A client unsubscribes for a while when at least manyClients are
	// subscribed, after manyQuickReleases messages in a row that came fast.
	manyClients       = 6
	manyQuickReleases = 8

	// resubscribeAfter is how long it stays unsubscribed. Meanwhile its attempts are
	// spread, but over longestPoll at most: no message would show that the other clients
	// have gone.
	resubscribeAfter = 25 * time.Millisecond
	longestPoll      = 3 * time.Millisecond
)

// Spread is the number of intervals between releases over which an unsubscribed queue
// spreads its next attempt.
type Spread int

// The spread depends on what the next attempt follows.
const (
	AfterRefusal Spread = 64              // its last attempt was refused
	AfterRelease Spread = spreadIntervals // this client released, and did not hand the lock on
)

// Random returns a number from 0 up to n, n not included. rand.N of math/rand/v2 is one.
type Random func(n time.Duration) time.Duration

// throttle is what a client knows of a lock that changes hands so fast that nearly every
// attempt comes too late. Each message wakes one waiter of every client. With many
// clients the server is busy refusing them. So each client spreads its attempts over some
// intervals and ignores the messages in between.
//
// With very many clients the server is busy publishing each release to all of them. Then
// a client that does not hold the lock unsubscribes for a while and polls. The clients
// that stay, or come back, see fewer subscribers and stay.
type throttle struct {
	interval      time.Duration // between two messages, on average; 0: not known
	lastRelease   time.Duration // message; 0: none since the client subscribed
	delayedUntil  time.Duration // the next attempt; 0: not delayed
	quickReleases int           // messages in a row that came fast
	resubscribeAt time.Duration // when the client subscribes again; 0: it has, or never left
}

// observeRelease records a message that asks for an attempt.
func (t *throttle) observeRelease(now time.Duration, random Random) {
	gap := min(now-t.lastRelease, 10*quickInterval)
	if t.lastRelease == 0 && t.interval > 0 {
		gap = t.interval
	}
	if t.lastRelease = now; t.interval == 0 {
		t.interval = gap
	}
	t.interval += (gap - t.interval) / 8
	if t.interval >= quickInterval {
		t.delayedUntil, t.quickReleases = 0, 0
		return
	}
	if t.delayedUntil == 0 {
		t.delayedUntil = now + random(min(t.interval*spreadIntervals, longestDelay)+1)
	}
	t.quickReleases++
}
