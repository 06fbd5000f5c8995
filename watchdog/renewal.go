package watchdog

import (
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// renewal is one call of the RenewFunc. An answer counts only while this is the lease's
// newest renewal.
type renewal struct {
	n        int
	leases   [MaxBatch]*Lease
	attempts [MaxBatch]uint8
	retry    time.Duration // pause before the failed ones are tried again
}

// send takes b, which is due, and what fits into the same call of the batches that
// follow, up to lead ahead. Batches of other groups are taken whole: each is one command,
// and the part left behind would be another. Retries are sent apart, so that a lease that
// keeps failing is not in each call with healthy ones and does not make them early.
func (w *Watchdog) send(b *batch, now time.Duration) *renewal {
	// One delay for the whole call keeps its retries together; a new one for each call
	// keeps the calls apart.
	r := &renewal{retry: w.retryEvery + rand.N(w.retryEvery/4+1)}
	g, until, room := b.group, clock.Later(now, w.lead), MaxBatch
	if g.paced {
		// Timers are late by about a gap, so the pace may catch up by one: two calls go together.
		w.resume = max(w.resume, max(b.renewAt, b.goes, now-w.gap())+w.gap())
	} else {
		until = clock.Later(now, w.retryEvery/8)
	}
	follows := func(next *batch) bool {
		return !next.sent && next.group.paced == g.paced && next.renewAt <= until && len(next.leases) > 0
	}
	for {
		// No lease joins what is sent, and the goroutine watches only the ends of its leases until
		// their answers come.
		if b.sent = true; g.paced {
			w.schedule.remove(b.renewAt)
		}
		if b.group.open == b {
			b.group.open = nil
		}
		w.lookAgain(b)
		room -= len(b.leases)
		next := w.batches[0]
		for ; next.group == b.group && follows(next) && room > 0; next = w.batches[0] {
			l := next.leases[0]
			w.leave(l)
			w.add(b, l)
			room--
		}
		w.lookAgain(b)
		for _, l := range b.leases {
			if now < l.Expiry() && (now <= l.renewUntil || l.asserts > 0) {
				l.state = inFlight
				l.attempt++
				r.leases[r.n], r.attempts[r.n] = l, l.attempt
				r.n++
			}
		}
		if b = next; !follows(b) || len(b.leases) > room {
			return r
		}
	}
}

// answer handles the answer for one lease.
func (w *Watchdog) answer(r *renewal, i int, a Answer) {
	l := r.leases[i]
	w.mu.Lock()
	now := w.clock.Now()
	if l.state != inFlight || l.attempt != r.attempts[i] {
		w.mu.Unlock()
		return
	}
	l.state = live
	b := l.batch
	var cause error
	told := l.told
	switch {
	case l.Expiry() <= now:
		// Code that read the clock has seen the lease as lost. A late good answer must not
		// bring it back.
		cause = ErrExpired
	case a.Result == NotOwned:
		cause = ErrNotOwned
		l.expiry.Store(int64(now))
	case a.Result == Renewed:
		l.expiry.Store(int64(Trust(a.Sent, a.TTL)))
		l.failed, l.told = false, false
		if l.asserts > 0 {
			l.asserts--
		}
		w.renewalRead(l, a.Read)
		w.leave(l)
		// A renewal that was sent on time, or a few slots late, keeps its place in the
		// third, so that no stretch of that length has two renewals of a lease. A later
		// one, or a retry, is among many others and looks for a new place.
		onTime := b.group.paced && a.Sent <= clock.Later(b.renewAt, keepsPlace*w.schedule.width)
		w.put(l, clock.Later(a.Sent, w.third), onTime)
	case l.renewing || l.asserts > 0:
		if a.Result != Busy {
			l.failed, l.told = true, l.told || l.renewing
			if a.Err == nil {
				a.Err = errFailed
			}
		}
		w.leave(l)
		w.join(&w.retrying, l, clock.Later(now, r.retry), w.retryEvery/8, true)
	}
	if cause != nil {
		w.forget(l)
	}
	changed := l.told != told
	w.mu.Unlock()
	switch {
	case cause != nil:
		l.holder.LeaseLost(l, cause)
	case changed && w.failing != nil:
		w.failing(l, a.Err)
	}
}
