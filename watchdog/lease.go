package watchdog

import (
	"errors"
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

// retry says whether the next renewal is another try, and of what.
type retry uint8

const (
	noRetry retry = iota
	unsent        // the newest renewal was not sent
	failing       // it failed
)

// queueName says in which of the watchdog's queues a lease is.
type queueName uint8

const (
	inNone queueName = iota
	inArrivals
	inDue
	inRetry
	inEnds
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

// Register makes a pending lease for h. It is not renewed, and h is
// not called, until Lease.Live. Each lease must be forgotten
// or lost in the end, or the watchdog closed. On a closed watchdog the lease
// is forgotten from the start.
func (w *Watchdog) Register(h Holder) *Lease {
	l := new(Lease)
	w.RegisterAt(l, h)
	return l
}

// RegisterAt is Register in the caller's memory: l is a zero Lease, perhaps a
// field of the holder, that was never registered. The next registration needs
// another one, since answers to this one's renewals may still be under way
// when it is forgotten.
func (w *Watchdog) RegisterAt(l *Lease, h Holder) {
	if l.state != unregistered {
		panic("watchdog: a lease is registered once")
	}
	l.watchdog, l.holder = w, h
	l.alarm, l.renewAt = Never, Never
	l.expiry.Store(int64(Never))
	l.state = pending
}

// Holder is what was given to Register.
func (l *Lease) Holder() Holder { return l.holder }

// Expiry is the instant at which trust in the lease ends, Never while it is
// pending. It is read without a lock. A forgotten lease keeps its last one;
// for a lease that the server disowned that is not later than the moment this
// became known.
func (l *Lease) Expiry() time.Duration { return time.Duration(l.expiry.Load()) }

// Live makes a pending lease live, or gives a live one new terms. Trust ends
// at expiry. The next renewal comes a third of the TTL after renewFrom (the
// instant at which the acquire was sent), earlier if many are due then, or
// never if renewFrom is Never. No renewal starts after renewUntil; Never means
// no limit.
//
// It reports whether the lease is live now. It is not, and nothing changes, if
// the lease is forgotten, or was live and its trust has ended by the clock,
// whether the holder was called or not: a loss that others may have seen is
// not taken back.
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
		l.expiry.Store(int64(expiry))
		l.renewAt, l.renewUntil = clock.Later(renewFrom, w.third), renewUntil
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
// answer that comes later is ignored, and the holder is not called, unless a
// call was already under way. It waits neither for such a call nor for a
// renewal in flight. It is idempotent.
func (l *Lease) Forget() {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(l)
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

// expired reports whether trust has ended by the clock.
func (l *Lease) expired() bool { return l.Expiry() <= l.watchdog.clock.Now() }

// end is the next instant at which the holder must be called.
func (l *Lease) end() time.Duration { return min(l.Expiry(), l.alarm) }

// Why a lease was lost. They are handed to [Holder.LeaseLost] as they are.
var (
	// ErrExpired says that trust ended before a renewal came through. The
	// server may still have the key for a moment, or may never have lost it.
	ErrExpired = errors.New("watchdog: the lease's time ran out")

	// ErrNotOwned says that a renewal was answered "not yours": the key is
	// gone or belongs to somebody else.
	ErrNotOwned = errors.New("watchdog: the server says the lease is not ours")
)

// Holder is who depends on a Lease. Its methods run on the watchdog's
// goroutine or on the goroutine that brought a renewal's answer, possibly for
// several leases at the same time, with no lock of the watchdog held. They
// must not block, since every other lease waits behind them, and must not call
// Watchdog.Close. They may call any method of Lease.
//
// A Holder that is a slog.LogValuer is named by its value in log records.
type Holder interface {
	// LeaseLost tells that trust ended (ErrExpired) or that the server said
	// "not yours" (ErrNotOwned). It is told at most once for each lease, which
	// is forgotten by then: no renewal of it starts any more.
	LeaseLost(l *Lease, cause error)

	// LeaseAlarm tells that the instant given to [Lease.SetAlarm] has come.
	// The alarm is cleared by then, so it may be set anew from here.
	LeaseAlarm(l *Lease)
}

// Never is an instant that no [Clock] reaches.
const Never = clock.Never

// Clock tells, by its method Now, the time elapsed since an origin of its own, suspend
// included where the system can tell. Its readings never go back. It must be safe
// for concurrent use.
type Clock = clock.Clock

// Trust is the instant until which a lease of ttl that was asked for at sent
// can be relied on: the server cannot have started to count before sent, and
// one percent, rounded up, covers clocks that run at different rates. A ttl
// of Never, or a sum beyond Never, is Never; a negative ttl counts as 0.
func Trust(sent, ttl time.Duration) time.Duration {
	if ttl == Never {
		return Never
	}
	ttl = max(ttl, 0)
	margin := ttl / 100
	if ttl%100 != 0 {
		margin++
	}
	return clock.Later(sent, ttl-margin)
}

// Lasting is a ttl that is enough, when it is asked for now, for trust to last
// d longer: Trust(0, Lasting(d)) is d or a few nanoseconds more. It is 0 for a
// d of 0 or less, and Never for Never.
func Lasting(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return clock.Later(d, d/99+2)
}

// maxArrivals is more than most programs hold at any time.
const maxArrivals = 100

// arrivals are the youngest leases, in the order in which they became live. Most
// leases are forgotten long before anything of them is due: a lock is held for
// a moment. So a new one is not ordered among the others before the goroutine
// looks, and is taken out again without that. There are never more than
// maxArrivals of them, so that a crowd is spread as it comes.
type arrivals []*Lease // nil where one has left

// remove takes one out.
func (a *arrivals) remove(l *Lease) {
	(*a)[l.pos-1] = nil
	l.in, l.pos = inNone, 0
	n := len(*a)
	for n > 0 && (*a)[n-1] == nil {
		n--
	}
	*a = (*a)[:n]
}

// arrive puts a lease that has just become live, and of which nothing is due
// before at, among the arrivals, and sees to it that the goroutine looks in time.
// It is called with mu held.
func (w *Watchdog) arrive(l *Lease, at time.Duration) {
	if len(w.arrivals) == maxArrivals {
		w.settle()
		at = min(at, w.next()) // a crowd has places before it is due
	}
	w.arrivals = append(w.arrivals, l)
	l.in, l.pos = inArrivals, int32(len(w.arrivals))
	if at <= w.wakeAt { // seldom: the goroutine looks earlier than anything of a new lease is due
		w.lookBy(at)
	}
}
