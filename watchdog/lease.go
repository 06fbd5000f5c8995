package watchdog

import (
	"sync/atomic"
	"time"
)

type state uint8

const (
	unregistered state = iota
	pending
	live
	inFlight // live, and the newest renewal is unanswered
	forgotten
)

// retry says whether the next renewal is another try, and of what.
type retry uint8

const (
	noRetry retry = iota
	unsent        // the newest renewal was not sent
	failing       // it failed
)

// Lease is one registration: what one owner has, or is about to have, of one
// key. [Watchdog.Register] makes it, [Watchdog.RegisterAt] where the caller
// wants it. It goes from pending to live to forgotten and never back; whoever
// acquires again registers another one, which is how an answer meant for an
// earlier lease is told from one for this. It must not be copied.
//
// All methods are safe for concurrent use and none of them blocks or waits
// for a Holder. Instants are readings of the watchdog's Clock.
type Lease struct {
	watchdog *Watchdog
	holder   Holder

	// expiry is written under watchdog.mu and read without it.
	expiry atomic.Int64

	// All that follows is guarded by watchdog.mu.

	alarm      time.Duration
	renewAt    time.Duration // of the next renewal or retry; Never: not renewing
	renewUntil time.Duration
	pos        int32 // in its queue, from 1 on; 0: in none
	in         queueName
	state      state
	attempt    uint8 // number of the newest renewal; only an answer that comes twice meets another
	retry      retry // renewAt is another try, and why
}

// alive reports whether l is live, its renewal in flight or not.
func (l *Lease) alive() bool { return l.state == live || l.state == inFlight }

// Holder is what was given to Register.
func (l *Lease) Holder() Holder { return l.holder }

// Expiry is the instant at which trust in the lease ends, Never while it is
// pending. It is read without a lock. A forgotten lease keeps its last one;
// for a lease that the server disowned that is not later than the moment this
// became known.
func (l *Lease) Expiry() time.Duration { return time.Duration(l.expiry.Load()) }

// Live makes a pending lease live, or gives a live one new terms: trust ends
// at expiry; the next renewal comes a third of the TTL after renewFrom (the
// instant at which the acquire was sent), earlier if many are due then, or
// never if renewFrom is Never; no renewal starts after renewUntil, Never
// meaning no limit.
//
// It reports whether the lease is live now. It is not, and nothing changes,
// if the lease is forgotten, or was live and its trust has ended by the
// clock, told or not: a loss that others may have seen is not taken back.
func (l *Lease) Live(expiry, renewFrom, renewUntil time.Duration) bool {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed || l.state == forgotten:
		return false
	case l.state == pending:
		w.begun++
		w.live++
		l.state = live
		l.expiry.Store(int64(expiry))
		l.renewAt, l.renewUntil = later(renewFrom, w.third), renewUntil
		if expiry-w.lead < l.renewAt {
			l.advanceRenewal()
		}
		w.arrive(l, min(l.renewAt, expiry, l.alarm))
		return true
	case l.expired():
		return false
	}
	l.expiry.Store(int64(expiry))
	l.renew(renewFrom, renewUntil)
	l.advanceRenewal()
	w.place(l)
	return true
}

// Lower moves the end of trust to expiry if that is earlier, because something
// other than a renewal may have set what the server counts. It does nothing
// unless the lease is live.
func (l *Lease) Lower(expiry time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.alive() || expiry >= l.Expiry() {
		return
	}
	l.expiry.Store(int64(expiry))
	l.advanceRenewal()
	w.place(l)
}

// SetRenew gives new terms of renewal, with the meaning they have in Live,
// and leaves the expiry alone. A renewal in flight stays in flight: its answer
// counts, and the next one is timed by it. It does nothing unless the lease is
// live.
func (l *Lease) SetRenew(from, until time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.alive() {
		return
	}
	l.renew(from, until)
	l.advanceRenewal()
	w.place(l)
}

// RenewUntil sets the instant after which no renewal starts, Never meaning no
// limit, and leaves all else alone. It does nothing unless the lease is live.
func (l *Lease) RenewUntil(until time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.alive() || l.renewUntil == until {
		return
	}
	l.renewUntil = until
	w.place(l)
}

// SetAlarm asks for one LeaseAlarm as soon as the instant has come, in place
// of any that was asked for before; Never asks for none. An alarm set on a
// pending lease waits until the lease is live; one that is still to come when
// the lease ends does not come.
func (l *Lease) SetAlarm(at time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.state == forgotten || l.alarm == at {
		return
	}
	l.alarm = at
	if l.alive() {
		w.place(l)
	}
}

// Forget ends the watchdog's interest in the lease: no renewal starts, an
// answer that comes later is ignored, and the holder is told nothing, unless
// a call to it was under way already. It does not wait for such a call, nor
// for a renewal in flight. It is idempotent.
func (l *Lease) Forget() {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.in != inArrivals {
		w.forget(l)
		return
	}
	// As nearly always: nothing of it has begun.
	w.arrivals.remove(l)
	w.live--
	l.state = forgotten
}

// renew sets the terms of renewal and drops a waiting retry.
func (l *Lease) renew(from, until time.Duration) {
	l.watchdog.unplace(l)
	l.setRetry(noRetry)
	l.renewUntil = until
	l.schedule(from)
}

// setRetry records what the next renewal tries again.
func (l *Lease) setRetry(r retry) {
	switch {
	case r == failing && l.retry != failing:
		l.watchdog.failing++
	case r != failing && l.retry == failing:
		l.watchdog.failing--
	}
	l.retry = r
}

// schedule sets the renewal that is due a third of the TTL after from, a little
// earlier if too many others are due then. l must be in no queue.
func (l *Lease) schedule(from time.Duration) {
	l.renewAt = later(from, l.watchdog.third)
	l.spread(from)
}

// spread moves the renewal to that of its group, or a little earlier if too many
// others are due then. What it follows was sent at from. l must be in no queue.
func (l *Lease) spread(from time.Duration) {
	w := l.watchdog
	if l.renewAt == Never || w.due.of != nil && w.join(l) {
		return
	}
	if w.schedule.hasBatch(l.renewAt) {
		l.renewAt = w.schedule.fit(l.renewAt, max(w.clock.Now(), later(from, w.third/16)))
	}
}

// advanceRenewal moves the next renewal to an earlier instant, if trust was cut
// short, so that there is time for retries. Every renewing lease gets at least
// one attempt. A quarter of the remaining time passes all the same, so that a
// trust that is short each time does not cause renewals without pause.
func (l *Lease) advanceRenewal() {
	if l.renewAt == Never || l.retry != noRetry {
		return
	}
	if at := l.Expiry() - l.watchdog.lead; at < l.renewAt {
		now := l.watchdog.clock.Now()
		l.renewAt = min(l.renewAt, max(at, now+(l.Expiry()-now)/4))
	}
}

// expired reports whether trust has ended by the clock.
func (l *Lease) expired() bool { return l.Expiry() <= l.watchdog.clock.Now() }

// end is the next instant at which the holder must be called.
func (l *Lease) end() time.Duration { return min(l.Expiry(), l.alarm) }
