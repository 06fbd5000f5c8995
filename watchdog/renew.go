package watchdog

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// batch is one call of the RenewFunc. An answer counts only while this is the
// lease's newest renewal.
type batch struct {
	n        int
	leases   [MaxBatch]*Lease
	attempts [MaxBatch]uint8
	delay    time.Duration // until those that fail are tried again
}

// renewDue starts one batch, if a renewal is due, and reports whether there
// was anything to do.
func (w *Watchdog) renewDue() bool {
	w.mu.Lock()
	w.settle() // plan does too, but is not reached while there is something to tell
	now := w.clock.Now()
	b, some := w.take(now)
	w.mu.Unlock()
	if b != nil {
		// The RenewFunc may do with its slice as it likes.
		w.renewBatch(slices.Clone(b.leases[:b.n]), func(i int, a Answer) { w.answer(b, i, a) })
	}
	return some
}

// take makes the next batch, and reports whether any lease was looked at. It is
// called with mu held.
func (w *Watchdog) take(now time.Duration) (b *batch, some bool) {
	if due := w.nextDue(); due <= now {
		b, some = w.takeDue(now)
		if b != nil {
			// From when it was to go: timers are late by about as much as the gap
			// is long. At most two go together for it.
			gap := w.gap()
			w.resume = clock.Later(max(due, now-gap), gap)
		}
		return b, some
	}
	if w.retry.first() <= now {
		// Retries are sent apart, so that a lease that keeps failing is not in
		// each batch of healthy ones and does not make them early.
		return w.takeRetries(now)
	}
	return nil, false
}

// takeDue moves up to MaxBatch leases into flight, of the groups that are due
// next, up to lead ahead. A group that fits is taken as a whole, however far
// ahead: one command renews it, and from then on it is due together. It is not
// split for want of room, as its other part would be a command more.
func (w *Watchdog) takeDue(now time.Duration) (b *batch, some bool) {
	for looked := 0; w.due.n > 0 && w.due.first() <= clock.Later(now, w.lead); {
		g := w.due.front()
		n, until := min(len(g.items), MaxBatch), clock.Later(now, w.lead)
		if looked+n > MaxBatch {
			break
		}
		if w.due.of != nil && len(g.items) <= MaxBatch {
			until = Never
		}
		for ; n > 0 && g.first() <= until; n-- {
			l := g.items[0].lease
			w.due.removeFrom(g, l)
			b = w.fly(b, l, now)
			looked++
		}
		some = true
	}
	return b, some
}

// takeRetries moves up to MaxBatch leases into flight whose next try is due.
func (w *Watchdog) takeRetries(now time.Duration) (b *batch, some bool) {
	until := clock.Later(now, w.retryEvery/8)
	for n := 0; n < MaxBatch && len(w.retry.items) > 0 && w.retry.first() <= until; n++ {
		l := w.retry.items[0].lease
		w.retry.remove(l)
		b = w.fly(b, l, now)
		some = true
	}
	return b, some
}

// fly adds a lease to b, which it makes if there is none so far, unless the
// lease is not to be renewed any more.
func (w *Watchdog) fly(b *batch, l *Lease, now time.Duration) *batch {
	if l.Expiry() <= now || l.renewUntil < now {
		w.ends.set(l, l.end()) // to be told as lost; or past its maximum, to run out
		return b
	}
	if b == nil {
		// One delay for the whole batch keeps its retries together;
		// another one for each batch keeps the batches apart.
		b = &batch{delay: w.retryEvery + rand.N(w.retryEvery/4+1)}
	}
	l.attempt++
	l.state = inFlight
	w.ends.set(l, l.end())
	b.leases[b.n], b.attempts[b.n] = l, l.attempt
	b.n++
	return b
}

// gap is the least time between two batches: half of what it would be if all
// were evenly spread.
func (w *Watchdog) gap() time.Duration {
	return w.third / time.Duration(2*max(slotsPerThird, w.due.n/MaxBatch))
}

// answer handles the answer for one lease.
func (w *Watchdog) answer(b *batch, i int, a Answer) {
	l := b.leases[i]
	w.mu.Lock()
	now := w.clock.Now()
	if l.state != inFlight || l.attempt != b.attempts[i] {
		w.mu.Unlock()
		return
	}
	l.state = live
	var cause error
	switch {
	case l.Expiry() <= now:
		// Anybody who read the clock sees the lease as lost. A late good answer
		// must not bring it back.
		cause = ErrExpired
	case a.Result == NotOwned:
		cause = ErrNotOwned
		l.expiry.Store(int64(now))
	case a.Result == Renewed:
		l.expiry.Store(int64(Trust(a.Sent, a.TTL)))
		if l.renewAt != Never {
			w.scheduleNext(l, a.Sent)
			if l.renewAt != Never && w.due.n >= MaxBatch {
				// The same order again: what the server was given together lies
				// together in its memory.
				l.renewAt += time.Duration(i)
			}
			l.advanceRenewal()
		}
	case l.renewAt != Never:
		if a.Result != Busy {
			l.setRetry(failing)
		} else if l.retry == noRetry {
			l.setRetry(unsent)
		}
		l.renewAt = clock.Later(now, b.delay)
	}
	if cause != nil {
		w.forget(l)
	} else {
		w.place(l)
	}
	w.mu.Unlock()

	if a.Result != Renewed && a.Result != NotOwned && a.Result != Busy && w.log.Enabled(context.Background(), slog.LevelDebug) {
		w.log.LogAttrs(context.Background(), slog.LevelDebug, "lease renewal failed", named(l, slog.Any("error", a.Err))...)
	}
	if cause != nil {
		w.lose(l, cause)
	}
}

// scheduleNext sets the renewal after one that was sent at sent. A renewal that
// was sent on time, or a few slots late, keeps its place in the third, so that no
// stretch of that length ever sees more than one of each. After a retry, or when
// it was later, it is among many others, and gets a new place.
func (w *Watchdog) scheduleNext(l *Lease, sent time.Duration) {
	if l.retry != noRetry || sent > clock.Later(l.renewAt, keepsPlace*w.schedule.width) {
		l.setRetry(noRetry)
		w.unplace(l)
		l.schedule(sent)
		return
	}
	l.renewAt = clock.Later(sent, w.third)
}
