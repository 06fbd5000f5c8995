package watchdog

import (
	"log/slog"
	"math/rand/v2"
	"time"
)

// MaxBatch is how many leases one call of a [RenewFunc] gets at most.
const MaxBatch = 100

// Result is what became of one lease's renewal.
type Result uint8

const (
	// Failed: no answer, or an error. Tried again while trust lasts.
	Failed Result = iota
	// Renewed: the server set the key's TTL anew.
	Renewed
	// NotOwned: the server says the key is not this owner's. The lease is lost.
	NotOwned
	// Busy: not sent, because something else of the same owner is in flight.
	// Tried again soon.
	Busy
)

// Answer is how one lease's renewal ended. Sent and TTL are for Renewed: when
// the renewal was sent, by the watchdog's Clock, and the TTL that was passed,
// which may be longer than the watchdog's own. Err is for the log.
type Answer struct {
	Result Result
	Sent   time.Duration
	TTL    time.Duration
	Err    error
}

// RenewFunc starts to renew a batch of 1 to [MaxBatch] leases and returns
// without waiting for the server. It calls answer once for each index of
// batch, from any goroutine and at any time, even before it returns. A lease
// is not renewed again until its answer has come, so one that is withheld
// costs the lease. The function may keep and reorder batch; indexes are those
// of the order in which it came.
type RenewFunc func(batch []*Lease, answer func(i int, a Answer))

// ticket is one lease's part in a batch: the answer counts only while the
// lease's newest renewal is this one.
type ticket struct {
	lease   *Lease
	attempt uint32
}

// renewDue starts one batch, if a renewal is due, and reports whether it did.
func (w *Watchdog) renewDue() bool {
	w.mu.Lock()
	now := w.clock.Now()
	tickets := w.take(&w.due, now, w.lead)
	if tickets == nil {
		// Retries travel apart, so that a lease that keeps failing neither
		// rides with each batch of healthy ones nor draws them in early.
		tickets = w.take(&w.retry, now, w.retryEvery/8)
	}
	w.mu.Unlock()
	if tickets == nil {
		return false
	}

	batch := make([]*Lease, len(tickets))
	for i, t := range tickets {
		batch[i] = t.lease
	}
	// One delay for the whole batch keeps its retries together; another one
	// for each batch keeps the batches apart.
	delay := w.retryEvery + rand.N(w.retryEvery/4+1)
	w.renewBatch(batch, func(i int, a Answer) { w.answer(tickets[i], a, delay) })
	return true
}

// take moves up to MaxBatch leases from q into flight: none unless the first
// is due, and then those that are due before now+ahead. It is called with mu
// held.
func (w *Watchdog) take(q *queue, now, ahead time.Duration) []ticket {
	if q.first() > now {
		return nil
	}
	var tickets []ticket
	for len(tickets) < MaxBatch && len(q.items) > 0 && q.first() <= later(now, ahead) {
		l := q.items[0].lease
		q.remove(l)
		if l.Expiry() <= now || l.renewUntil < now {
			continue // to be told as lost; or past its maximum, to run out
		}
		l.inFlight = true
		l.attempt++
		if tickets == nil {
			tickets = make([]ticket, 0, min(MaxBatch, len(q.items)+1))
		}
		tickets = append(tickets, ticket{l, l.attempt})
	}
	return tickets
}

// answer takes in what became of one renewal.
func (w *Watchdog) answer(t ticket, a Answer, retryDelay time.Duration) {
	l := t.lease
	w.mu.Lock()
	if l.state != live || !l.inFlight || l.attempt != t.attempt {
		w.mu.Unlock()
		return
	}
	l.inFlight = false
	now := w.clock.Now()
	var cause error
	switch {
	case l.Expiry() <= now:
		// Whoever read the clock knows the lease as lost; a good answer that
		// is late must not bring it back.
		cause = ErrExpired
	case a.Result == NotOwned:
		cause = ErrNotOwned
		l.expiry.Store(int64(now))
	case a.Result == Renewed:
		l.expiry.Store(int64(Trust(a.Sent, a.TTL)))
		if l.renewAt != Never {
			l.retryMode(false)
			l.renewAt = later(a.Sent, w.ttl/3)
		}
	case l.renewAt != Never:
		l.retryMode(true)
		l.renewAt = later(now, retryDelay)
	}
	if cause != nil {
		w.forget(l)
	} else {
		w.place(l)
	}
	w.mu.Unlock()

	if a.Result != Renewed && a.Result != NotOwned && a.Result != Busy {
		w.log.Debug("lease renewal failed", named(l, slog.Any("error", a.Err))...)
	}
	if cause != nil {
		w.lose(l, cause)
	}
}
