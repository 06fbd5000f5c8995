package wakepolicy

import "time"

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
	// attempts are spread, but never further than longestPoll: no message would
	// tell it that the other clients have gone.
	resubscribeAfter = 25 * time.Millisecond
	longestPoll      = 3 * time.Millisecond
)

// Spread is over how many intervals between releases a queue that is off its channel
// spreads its next try.
type Spread int

// What the next try follows.
const (
	AfterRefusal Spread = 64              // the last one was refused
	AfterRelease Spread = spreadIntervals // this client released, and did not hand the lock on
)

// Random gives a number from 0 up to n, n not included. rand.N of math/rand/v2
// is one.
type Random func(n time.Duration) time.Duration

// throttle is what a client knows of a lock that changes hands so fast that
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
