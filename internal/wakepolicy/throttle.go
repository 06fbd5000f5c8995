package wakepolicy

import "time"

const (
	// quickInterval is how fast releases must follow each other for a client to
	// let some of their messages pass. A crowd's own tries slow them down, on a
	// slow server to half a millisecond.
	quickInterval = 600 * time.Microsecond

	// spreadIntervals is over how many of them its next try is spread, but no
	// further than longestDelay. A message that comes before the try is made
	// leaves its time as it is: a client that gets its share of the processor
	// late would else put it off again each time.
	spreadIntervals = 48
	longestDelay    = 10 * time.Millisecond

	// manyClients is from how many subscribed clients on one stays away, after
	// so many quick releases in a row.
	manyClients       = 6
	manyQuickReleases = 8

	// resubscribeAfter is how long it stays away. Meanwhile its tries are spread,
	// but never further than longestPoll: until then nothing would tell it that
	// the crowd has gone.
	resubscribeAfter = 25 * time.Millisecond
	longestPoll      = 3 * time.Millisecond
)

// Spread is over how many intervals between releases the next try of a queue is
// spread that is off its channel.
type Spread int

// What the next try follows.
const (
	AfterRefusal Spread = 64              // the last one was refused
	AfterRelease Spread = spreadIntervals // this client released, and did not hand the lock on
)

// Random gives a number from 0 up to n, n not included. rand.N of math/rand/v2
// is one.
type Random func(n time.Duration) time.Duration

// throttle is what a client knows of a name that goes from hand to hand so fast
// that nearly every try comes too late. Each message wakes one waiter of every
// client, and where there are many, the server is busy with refusing them. So
// the tries of a client are spread over some intervals, of which the messages
// in between ask for nothing more.
//
// Where the clients are many, the server is busier still with telling all of
// them of each release. Then a client that is not inside leaves the channel for
// a while and goes by the clock alone. Those who stay, or come back, see fewer
// subscribers and stay.
type throttle struct {
	interval      time.Duration // between two messages, on average; 0: not known
	lastRelease   time.Duration // message; 0: none since the client subscribed
	delayedUntil  time.Duration // no try before, for this reason; 0: none since the last try
	quickReleases int           // messages in a row that came fast
	resubscribeAt time.Duration // when the client subscribes again; 0: it has, or never left
}

// observeRelease takes note of a message that asks for a try.
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

// delayUntil is the instant before which the head makes no attempt, 0 if it may
// try now. Who was never told that the lock is taken, or has no time left then,
// does not wait for it.
func (t *throttle) delayUntil(now time.Duration, h Head) time.Duration {
	if t.delayedUntil <= now || !h.Refused || h.Until > 0 && h.Until <= t.delayedUntil {
		return 0
	}
	return t.delayedUntil
}
