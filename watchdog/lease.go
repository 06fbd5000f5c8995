package watchdog

import (
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

type state uint8

const (
	unregistered state = iota
	pending
	live
	inFlight // live, and the newest renewal is unanswered
	forgotten
)

// Lease is one registration: what one owner has, or is about to have, of one key.
// [Watchdog.Register] makes it, [Watchdog.RegisterAt] in the caller's memory. It goes
// from pending to live to forgotten and never back. A caller that acquires again
// registers another lease, so that an answer meant for the earlier one cannot count for
// it. It must not be copied.
//
// All methods are safe for concurrent use and none of them blocks or waits
// for a Holder. Instants are readings of the watchdog's Clock.
type Lease struct {
	watchdog *Watchdog
	holder   Holder

	// expiry is written under watchdog.mu and read without it.
	expiry atomic.Int64

	// The fields below are guarded by watchdog.mu.

	batch      *batch // nil unless it is live
	alarm      time.Duration
	renewUntil time.Duration
	state      state
	attempt    uint8 // number of the newest renewal; guards against an answer that is given twice
	renewing   bool  // by its terms
	asserts    uint8 // renewals that are owed whatever its terms, because its server may lack what set the lease
	failed     bool  // the newest renewal that was sent failed
	told       bool  // Options.Failing was called, and no renewal has succeeded since
	watch      watch // see watch.go
	owed       uint8 // number of looks owed, see watch.go
}

// alive reports whether l is live, with or without a renewal in flight.
func (l *Lease) alive() bool { return l.state == live || l.state == inFlight }

// Register makes a pending lease for h. It is not renewed, and h is not called, before
// Lease.Live. Each lease must be forgotten or lost in the end, or the watchdog closed. On
// a closed watchdog Lease.Live never succeeds.
func (w *Watchdog) Register(h Holder) *Lease {
	l := new(Lease)
	w.RegisterAt(l, h)
	return l
}

// RegisterAt is Register in the caller's memory: l is a zero Lease, perhaps a field of
// the holder, that was never registered. It panics if l was registered before. The next
// registration needs another Lease, since answers to renewals of this one may still come
// after it is forgotten.
func (w *Watchdog) RegisterAt(l *Lease, h Holder) {
	if l.state != unregistered {
		panic("watchdog: a lease is registered once")
	}
	l.watchdog, l.holder = w, h
	l.alarm = Never
	l.expiry.Store(int64(Never))
	l.state = pending
}

// Holder is the holder that was given to Register.
func (l *Lease) Holder() Holder { return l.holder }

// Expiry is the instant at which trust in the lease ends, Never while it is pending. It
// takes no lock. A forgotten lease keeps its last expiry. If the server disowned the
// lease, that is at the latest the moment at which the answer came.
func (l *Lease) Expiry() time.Duration { return time.Duration(l.expiry.Load()) }

// Alive reports whether the lease is live.
func (l *Lease) Alive() bool {
	l.watchdog.mu.Lock()
	defer l.watchdog.mu.Unlock()
	return l.alive()
}

// Live makes a pending lease live, or gives a live one new terms. Trust ends at expiry.
// The next renewal comes a third of the TTL after renewFrom (the instant at which the
// acquire was sent), earlier if many are due then, or never if renewFrom is Never. No
// renewal starts after renewUntil; Never means no limit.
//
// It reports whether the lease is live now. It is not, and nothing changes, if the lease
// is forgotten, if the watchdog is closed, or if the lease was live and its trust has
// ended by the clock. The last holds even before LeaseLost is called: others may have
// seen the loss, so it is not taken back.
func (l *Lease) Live(expiry, renewFrom, renewUntil time.Duration) bool {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed || l.state == forgotten:
		return false
	case l.state == pending:
		w.live++
		l.state = live
	case l.expired():
		return false
	}
	l.expiry.Store(int64(expiry))
	l.renewing, l.renewUntil = renewFrom != Never, renewUntil
	l.failed = false
	if l.batch != nil {
		w.wrote(l)
	}
	if l.state == inFlight {
		w.lookAt(l.batch, l.end()) // its answer says when the next renewal comes
		return true
	}
	if l.batch != nil {
		w.leave(l)
	}
	w.put(l, clock.Later(renewFrom, w.third), false)
	return true
}

// Lower moves the end of trust to expiry if that is earlier. It is for a command other
// than a renewal that may have shortened the TTL on the server. It does nothing unless
// the lease is live.
func (l *Lease) Lower(expiry time.Duration) {
	l.ifAlive(func(w *Watchdog, l *Lease) {
		if w.wrote(l); expiry < l.Expiry() {
			w.setExpiry(l, expiry)
		}
	})
}

// RenewUntil sets the instant after which no renewal starts, Never meaning no limit, and
// changes nothing else. It does nothing unless the lease is live.
func (l *Lease) RenewUntil(until time.Duration) {
	l.ifAlive(func(w *Watchdog, l *Lease) {
		if l.renewUntil == until {
			return
		}
		l.renewUntil = until
		if l.state == live && l.batch.group != &w.retrying {
			due := l.batch.renewAt
			if due == Never {
				// A third after the last command, or from now on: it may have set a longer lease.
				due = min(l.Expiry()-Trust(0, 3*w.third), w.clock.Now()) + w.third
			}
			w.leave(l)
			w.put(l, due, false)
		}
	})
}

// SetAlarm asks for one LeaseAlarm as soon as the instant has come. It replaces an
// earlier request; Never cancels it. An alarm set on a pending lease waits until the
// lease is live. An alarm still pending when the lease ends is dropped.
func (l *Lease) SetAlarm(at time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.state == forgotten {
		return
	}
	// Not before what is already due: an alarm that is always set to the past would starve
	// it.
	l.alarm = max(at, w.looked)
	if l.alive() {
		w.lookAt(l.batch, l.alarm)
	}
}

// Forget ends the watchdog's work for the lease: no renewal starts, an answer that comes
// later is ignored, and the holder is not called, unless a call was already under way. It
// waits neither for such a call nor for a renewal in flight. It is idempotent.
func (l *Lease) Forget() {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(l)
}

// setExpiry moves the end of a live lease's trust.
func (w *Watchdog) setExpiry(l *Lease, expiry time.Duration) {
	l.expiry.Store(int64(expiry))
	if b := l.batch; !b.sent && b.group.paced {
		if due := w.soonest(l, b.renewAt); due < b.renewAt {
			w.leave(l)
			w.put(l, due, false)
			return
		}
	}
	w.lookAt(l.batch, l.end())
}

// forget is Forget with mu held.
func (w *Watchdog) forget(l *Lease) {
	if l.alive() && !w.closed {
		w.live--
		w.leave(l)
	}
	l.state = forgotten
}

// expired reports whether trust has ended by the clock.
func (l *Lease) expired() bool { return l.Expiry() <= l.watchdog.clock.Now() }

// end is the next instant at which the holder must be called.
func (l *Lease) end() time.Duration { return min(l.Expiry(), l.alarm) }

// Never is an instant that no [Clock] reaches.
const Never = clock.Never

// Clock measures the time elapsed since its origin by its method Now, suspend included
// where the system can tell. Its readings never go back. It must be safe for concurrent
// use.
type Clock = clock.Clock

// Trust is the instant until which a lease of ttl that was requested at sent can be
// relied on. The server cannot have started to count before sent, and one percent,
// rounded up, covers clocks that run at different rates. A ttl of Never, or a sum beyond
// Never, is Never; a negative ttl counts as 0.
func Trust(sent, ttl time.Duration) time.Duration {
	if ttl == Never {
		return Never
	}
	ttl = max(ttl, 0)
	margin := ttl/100 + min(ttl%100, 1)
	return clock.Later(sent, ttl-margin)
}

// Lasting is the ttl to request now so that trust lasts for d: Trust(0, Lasting(d)) is d
// or a few nanoseconds more. It is 0 for a d of 0 or less, and Never for Never.
func Lasting(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return clock.Later(d, d/99+2)
}
