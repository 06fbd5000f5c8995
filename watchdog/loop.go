package watchdog

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// run is the goroutine. It runs while there are live leases.
func (w *Watchdog) run() {
	timer := time.NewTimer(w.maxSleep)
	defer timer.Stop()
	for {
		if w.work() {
			continue
		}
		if !w.plan(timer) {
			if w.idle != nil {
				w.idle()
			}
			return
		}
		select {
		case <-timer.C:
		case <-w.wakeup:
		}
	}
}

// work does one thing that is due and reports whether there was one. It takes one lease
// under the lock, so that the holder of a lease that is forgotten meanwhile is not
// called.
func (w *Watchdog) work() bool {
	w.mu.Lock()
	now := w.clock.Now()
	if w.looked = now; w.next() > now {
		if w.nextLook() > now {
			w.mu.Unlock()
			return false
		}
		batch := w.looks(now)
		w.mu.Unlock()
		if len(batch) > 0 {
			w.look(batch, func(i int, read bool) { w.lookAnswered(batch[i], read) })
		}
		return true
	}
	b := w.batches[0]
	var l *Lease // whose end or alarm came first; nil: none has come
	for _, one := range b.leases {
		if end := one.end(); end <= now && (l == nil || end < l.end()) {
			l = one
		}
	}
	switch {
	case len(b.leases) == 0:
		w.end(b)
		w.mu.Unlock()
	case l == nil && !b.sent && b.renewAt <= now && w.mayGo(b, now):
		r := w.send(b, now)
		w.mu.Unlock()
		if r.n > 0 {
			// The RenewFunc may change its slice.
			w.renewBatch(slices.Clone(r.leases[:r.n]), func(i int, a Answer) { w.answer(r, i, a) })
		}
	case l == nil:
		w.lookAgain(b)
		w.mu.Unlock()
	case l.Expiry() <= now:
		w.forget(l)
		w.mu.Unlock()
		l.holder.LeaseLost(l, ErrExpired)
	default:
		l.alarm = Never
		w.lookAgain(b)
		w.mu.Unlock()
		l.holder.LeaseAlarm(l)
	}
	return true
}

// plan sets the timer. If it is not ok, the goroutine must end, and no longer counts as
// running.
func (w *Watchdog) plan(timer *time.Timer) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A goroutine that has not slept yet, and finds its lease forgotten, sleeps once
	// before it ends. Otherwise a caller that takes and releases locks one after the other
	// would start a goroutine each time, and wake a thread with it.
	if w.live == 0 && (w.slept || w.closed) {
		w.running, w.wakeAt, w.slept = false, Never, false
		for len(w.batches) > 0 {
			w.end(w.batches[0])
		}
		w.batches, w.spare, w.spareGroup, w.toLook, w.rests = nil, nil, nil, nil, nil // they may be large
		return false
	}
	now := w.clock.Now()
	w.wakeAt = min(w.next(), w.nextLook(), clock.Later(now, w.maxSleep))
	w.slept = true
	timer.Reset(w.wakeAt - now)
	return true
}

// next is the instant at which a batch needs something.
func (w *Watchdog) next() time.Duration {
	if len(w.batches) == 0 {
		return Never
	}
	return w.batches[0].at
}

// lookBy starts the goroutine if there is none, and wakes it if it sleeps beyond at. It
// is called with mu held.
func (w *Watchdog) lookBy(at time.Duration) {
	if !w.running {
		w.running = true
		w.wakeAt = awake
		w.done.Go(w.run)
	} else if at < w.wakeAt {
		w.wake()
	}
}

// wake ends the goroutine's sleep. It is called with mu held.
func (w *Watchdog) wake() {
	w.wakeAt = awake
	clock.Signal(w.wakeup)
}
