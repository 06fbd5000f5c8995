package waitqueue

import (
	"cmp"
	"time"
)

const (
	// A client may be ahead by lead·window/n acquisitions, which keeps its share at about
	// 1/n + lead/n². Releases more than window·n ago are forgotten.
	lead   = 0.62
	window = 16

	// How far behind, and how far beyond the bound, a client can be counted. A client must
	// not pay forever for one lucky run.
	mostBehind = 4
	mostBeyond = 3

	firstPatience = 4 * time.Millisecond
	leastPatience = 3 * time.Millisecond
	mostPatience  = 8 * time.Millisecond
	longer        = time.Millisecond      // after a waste
	shorter       = 50 * time.Microsecond // after a wait that let a client in

	// 1/allowance of the time may be wasted. A wait that let a client in gives back
	// 1/refund of the patience.
	allowance  = 70
	refund     = 20
	mostBudget = 40 * time.Millisecond

	// Waiting for a slow client costs little compared to a hold that is longer than this.
	// So the bound is lower for longer holds: leads are counted in releases, and these may
	// be seconds apart.
	longHold = 20 * time.Millisecond

	leastPause = 50 * time.Millisecond
	mostPause  = 1600 * time.Millisecond
)

// FairShare counts how far one client is ahead with one lock that others may want too.
// The zero FairShare knows of no other client. A nil one records nothing that it is told.
// It is not safe for concurrent use.
// Instants are readings of one clock that never goes back.
type FairShare struct {
	clients    int           // number of those that want the lock, this one included
	counted    int           // result of the last count
	ahead      float64       // number of acquisitions above the fair share
	patience   time.Duration // 0: firstPatience
	freeAt     time.Duration // when a release was last seen
	releasedAt time.Duration // when this client last released, or began to
	grantedAt  time.Duration // when it last acquired the lock
	hold       time.Duration // average time that it holds; 0: not known
	heldUntil  time.Duration // what YieldUntil returned during this hold, if nothing has happened since; 0: nothing
	budget     time.Duration // what useless waits may still cost, as of filledAt
	filledAt   time.Duration
	countedAt  time.Duration // when the clients were last counted
	countEvery time.Duration // time between two counts

	ownMessages int  // own releases whose message is still to come; -1: it came before the answer
	held        bool // this client holds the lock
	contended   bool // it acquired soon after a release, or after it stepped back
	yielding    bool // it steps back, and no other client has come since
	counting    bool // a count is in progress
}

// Arrived records a call that finds no other waiter of this client. If it comes long
// after the last release and this client does not hold the lock, the client has left room
// by not waiting.
func (f *FairShare) Arrived(now time.Duration) {
	if f != nil && !f.held && now > f.releasedAt+f.Patience() {
		f.ahead = min(f.ahead, 0)
		f.yielding = false
	}
}

// Granted counts an acquisition by this client.
func (f *FairShare) Granted(now time.Duration) {
	// Only a wait that ran out was a waste. A wait that ended because a release put this
	// client below the bound has cost nothing.
	if f.yielding && !f.held && now >= f.freeAt+f.Patience() {
		f.refill(now)
		f.budget -= f.Patience()
		f.patience = min(f.Patience()+longer, mostPatience)
	}
	f.contended = f.yielding || now <= f.freeAt+f.Patience()
	f.yielding = false
	f.held, f.heldUntil, f.grantedAt = true, 0, now
	f.add(1)
}

// Refused records an attempt that found the lock taken.
func (f *FairShare) Refused(now time.Duration) {
	if f == nil {
		return
	}
	if !f.held {
		f.sawOthers(now)
	}
	f.heldUntil = 0
}

// Released records a release by this client, or the loss of its hold. If the
// client is subscribed, MessageReceived is called for that release as well,
// before or after.
func (f *FairShare) Released(now time.Duration, listens bool) {
	if f.held {
		held := now - f.grantedAt
		if f.hold == 0 {
			f.hold = held
		}
		f.hold += (held - f.hold) / 8
	}
	f.releasedAt, f.freeAt = now, now
	f.held, f.heldUntil = false, 0
	if listens {
		f.ownMessages = min(f.ownMessages+1, 1)
	} else {
		f.ownMessages = 0
		f.countRelease()
	}
}

// MessageReceived records the message of a release.
func (f *FairShare) MessageReceived(now time.Duration) {
	if f == nil {
		return
	}
	// A message during this client's own hold is either its own, which has overtaken the
	// answer, or an old one. Neither is a sign of other clients.
	if f.held || f.ownMessages > 0 {
		f.ownMessages = max(f.ownMessages-1, -1)
	} else {
		f.sawOthers(now)
	}
	f.freeAt, f.heldUntil = now, 0
	f.countRelease()
}

// CountDue reports whether the clients that want the lock are to be counted now. If so,
// the caller must count them and call SetClients or CountFailed; until then no other
// count is due. Counts become rarer while no other client is there, and there are none
// while this client leaves long enough pauses.
func (f *FairShare) CountDue(now time.Duration) bool {
	if f.counting || !f.contended || now < f.countedAt+f.countEvery {
		return false
	}
	f.counting, f.countedAt = true, now
	return true
}

// CountFailed ends a count that gave no result.
func (f *FairShare) CountFailed() { f.counting = false }

// SetClients sets how many clients want the lock, this one included.
func (f *FairShare) SetClients(n int) {
	// A client with one thread is not subscribed while it holds the lock, and would be
	// missed half the time. So a client of the last count still counts.
	f.counting = false
	f.clients, f.counted = max(n, f.counted), n
	if f.clients > 1 {
		f.countEvery = leastPause
	} else {
		f.countEvery = min(max(2*f.countEvery, leastPause), mostPause)
	}
}

// Counted is how many clients wanted the lock at the last count; 0 before the first.
func (f *FairShare) Counted() int { return f.counted }

// YieldUntil is the instant before which this client makes no attempt, 0 if it may try
// now. While the client holds the lock, it is the answer that would hold after a release
// now, for a client that is about to release.
func (f *FairShare) YieldUntil(now time.Duration) time.Duration {
	free, ahead := f.freeAt, f.ahead
	if f.held {
		free, ahead = now, ahead-f.share()
	}
	if f.clients < 2 || ahead <= f.bound() {
		f.yielding = false
		return 0
	}
	at := free + f.Patience()
	if f.held {
		// A hold that was lost unnoticed must not delay its client forever. So the first
		// answer stays until something happens.
		if f.heldUntil == 0 {
			f.heldUntil = at
		}
		at = f.heldUntil
	}
	if now >= at {
		return 0
	}
	if f.refill(now); f.budget < f.Patience() {
		f.yielding = false
		return 0
	}
	f.yielding = true
	return at
}

// Patience is how long a client that is ahead waits for slower ones.
func (f *FairShare) Patience() time.Duration {
	return cmp.Or(f.patience, firstPatience)
}

// AverageHold is how long this client holds the lock, on average. It is 0 before the
// first release.
func (f *FairShare) AverageHold() time.Duration { return f.hold }

// sawOthers records a sign of another client. If this client stepped back, that let the
// other one in.
func (f *FairShare) sawOthers(now time.Duration) {
	f.countEvery = leastPause
	if f.yielding {
		f.yielding = false
		f.refill(now)
		f.budget = min(f.budget+f.Patience()/refund, mostBudget)
		f.patience = max(f.Patience()-shorter, leastPatience)
	}
}

// refill adds what the budget has gained since the last call.
func (f *FairShare) refill(now time.Duration) {
	f.budget = min(f.budget+(now-f.filledAt)/allowance, mostBudget)
	f.filledAt = now
}

// share is what one release by any client takes off.
func (f *FairShare) share() float64 {
	return (1 + f.ahead/window) / float64(max(f.clients, 1))
}

// countRelease counts one release by any client.
func (f *FairShare) countRelease() { f.add(-f.share()) }

func (f *FairShare) add(x float64) {
	f.ahead = min(max(f.ahead+x, -mostBehind), f.bound()+mostBeyond)
}

// bound is how far ahead a client may be before it steps back.
func (f *FairShare) bound() float64 {
	b := lead * window / float64(max(f.clients, 1))
	if f.hold > longHold {
		b *= float64(longHold) / float64(f.hold)
	}
	return b
}
