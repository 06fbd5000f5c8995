package courtesy

import "time"

const (
	// A client may be ahead by lead·window/n acquisitions, which keeps its
	// share at about 1/n + lead/n². What was longer ago than window·n releases
	// is forgotten.
	lead   = 0.62
	window = 16

	// How far behind, and how far beyond the bound, a client is remembered to
	// be: one run of luck must not be paid back for ever.
	mostBehind = 4
	mostBeyond = 3

	firstPatience = 4 * time.Millisecond
	leastPatience = 3 * time.Millisecond
	mostPatience  = 8 * time.Millisecond
	longer        = time.Millisecond      // after a waste
	shorter       = 50 * time.Microsecond // after a wait that was of use

	// One part in so many: of the time, that may be wasted, and of the patience
	// after a wait that was of use, that is given back.
	allowance  = 70
	refund     = 20
	mostBudget = 40 * time.Millisecond

	// Waiting for a slow client costs little beside a hold that is longer than
	// this, so the bound is the lower the longer the holds are: leads are
	// counted in releases, and those may be seconds apart.
	longHold = 20 * time.Millisecond

	leastPause = 50 * time.Millisecond
	mostPause  = 1600 * time.Millisecond
)

// Turn is how one client stands with one lock that others may want too. The
// zero Turn knows of nobody else. It is not safe for concurrent use. Instants
// are readings of one clock that never goes back.
type Turn struct {
	clients  int           // that want the lock, this one included
	counted  int           // what the last count said
	ahead    float64       // acquisitions above the fair share
	patience time.Duration // 0: the first
	free     time.Duration // when a release was last seen
	released time.Duration // when this client last released
	came     time.Duration // when it last came in
	hold     time.Duration // how long it holds, on average; 0: not known
	inside   time.Duration // what Until said while held, nothing having happened since; 0: nothing
	budget   time.Duration // what waits in vain may still cost, as of filled
	filled   time.Duration
	asked    time.Duration // when the clients were last counted
	pause    time.Duration // until they are counted again

	own      int  // releases of this client whose message is still to come; -1: it came before the answer
	held     bool // this client is inside
	pressed  bool // it came in soon after a release, or waited out of courtesy
	stepping bool // it waits, and nobody else has come since
}

// Arrived takes note of a call that finds nobody of this client waiting. One
// that comes long after the last release has left room by its absence, unless
// its client is inside.
func (t *Turn) Arrived(now time.Duration) {
	if !t.held && now > t.released+t.Patience() {
		t.ahead = min(t.ahead, 0)
		t.stepping = false
	}
}

// Granted counts an acquisition by this client.
func (t *Turn) Granted(now time.Duration) {
	// Only a wait that lasted was a waste: one that ended because a release
	// put this client below the bound has cost nothing.
	if t.stepping && !t.held && now >= t.free+t.Patience() {
		t.refill(now)
		t.budget -= t.Patience()
		t.patience = min(t.Patience()+longer, mostPatience)
	}
	t.pressed = t.stepping || now <= t.free+t.Patience()
	t.stepping = false
	t.held, t.inside, t.came = true, 0, now
	t.add(1)
}

// Refused takes note of an attempt that found the lock taken.
func (t *Turn) Refused(now time.Duration) {
	if !t.held {
		t.others(now)
	}
	t.inside = 0
}

// Released takes note of a release by this client, or of the loss of its hold.
// If it listens, the message of that release is Heard as well, before or after.
func (t *Turn) Released(now time.Duration, listens bool) {
	if t.held {
		held := now - t.came
		if t.hold == 0 {
			t.hold = held
		}
		t.hold += (held - t.hold) / 8
	}
	t.released, t.free = now, now
	t.held, t.inside = false, 0
	if listens {
		t.own = min(t.own+1, 1)
	} else {
		t.own = 0
		t.passed()
	}
}

// Heard takes note of a release's message.
func (t *Turn) Heard(now time.Duration) {
	// What comes while this client is inside is either its own message, which
	// has overtaken the answer, or an old one: neither is a sign of others.
	if t.held || t.own > 0 {
		t.own = max(t.own-1, -1)
	} else {
		t.others(now)
	}
	t.free, t.inside = now, 0
	t.passed()
}

// Ask tells whether it is time to count the clients that want the lock, and
// that it will be done. It is time the less often the longer nobody else was
// there, and never for a client that leaves the lock alone for long enough.
func (t *Turn) Ask(now time.Duration) bool {
	if !t.pressed || now < t.asked+t.pause {
		return false
	}
	t.asked = now
	return true
}

// Clients tells how many want the lock, this one included.
func (t *Turn) Clients(n int) {
	// A client with one thread is not subscribed while it is inside, and would
	// be missed half the time: who was there at the last count is still there.
	t.clients, t.counted = max(n, t.counted), n
	if t.clients > 1 {
		t.pause = leastPause
	} else {
		t.pause = min(max(2*t.pause, leastPause), mostPause)
	}
}

// Counted is how many wanted the lock at the last count; 0 before the first.
func (t *Turn) Counted() int { return t.counted }

// Until is the instant before which this client makes no attempt, 0 if it may
// try now. While the client is inside it tells what would hold after a release
// now, and is for those who are about to release.
func (t *Turn) Until(now time.Duration) time.Duration {
	free, ahead := t.free, t.ahead
	if t.held {
		free, ahead = now, ahead-t.share()
	}
	if t.clients < 2 || ahead <= t.bound() {
		t.stepping = false
		return 0
	}
	at := free + t.Patience()
	if t.held {
		// A hold that was lost without a word must not put its client off for
		// ever: what was said once stays until something happens.
		if t.inside == 0 {
			t.inside = at
		}
		at = t.inside
	}
	if now >= at {
		return 0
	}
	if t.refill(now); t.budget < t.Patience() {
		t.stepping = false
		return 0
	}
	t.stepping = true
	return at
}

// Patience is how long a client that is ahead waits for slower ones.
func (t *Turn) Patience() time.Duration {
	if t.patience == 0 {
		return firstPatience
	}
	return t.patience
}

// Hold is how long this client holds the lock, on average; 0 if it has not
// released it yet.
func (t *Turn) Hold() time.Duration { return t.hold }

// others takes note of somebody else: a wait was of use.
func (t *Turn) others(now time.Duration) {
	t.pause = leastPause
	if t.stepping {
		t.stepping = false
		t.refill(now)
		t.budget = min(t.budget+t.Patience()/refund, mostBudget)
		t.patience = max(t.Patience()-shorter, leastPatience)
	}
}

// refill pays in what time has brought since it was last done.
func (t *Turn) refill(now time.Duration) {
	t.budget = min(t.budget+(now-t.filled)/allowance, mostBudget)
	t.filled = now
}

// share is what one release by anybody takes off.
func (t *Turn) share() float64 {
	return (1 + t.ahead/window) / float64(max(t.clients, 1))
}

// passed counts one release by anybody.
func (t *Turn) passed() { t.add(-t.share()) }

func (t *Turn) add(x float64) {
	t.ahead = min(max(t.ahead+x, -mostBehind), t.bound()+mostBeyond)
}

// bound is how far ahead a client may be before it steps back.
func (t *Turn) bound() float64 {
	b := lead * window / float64(max(t.clients, 1))
	if t.hold > longHold {
		b *= float64(longHold) / float64(t.hold)
	}
	return b
}
