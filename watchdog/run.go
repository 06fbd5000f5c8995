package watchdog

import (
	"context"
	"log/slog"
	"time"
)

// run is the goroutine. It lives while leases do.
func (w *Watchdog) run() {
	timer := time.NewTimer(w.maxSleep)
	defer timer.Stop()
	for {
		// Alternately, so that neither many losses nor many renewals delay the
		// other.
		told := w.tellSome()
		renewed := w.renewDue()
		if told || renewed {
			continue
		}
		sleep, ok := w.plan(timer)
		if !ok {
			return
		}
		if !sleep {
			continue
		}
		select {
		case <-timer.C:
		case <-w.wakeup:
		}
	}
}

// plan sets the timer, and reports whether there is time to sleep. It is not
// ok when the goroutine has to end, which then no longer counts as running.
func (w *Watchdog) plan(timer *time.Timer) (sleep, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live == 0 { // so it is when closed
		w.running, w.wakeAt, w.timer = false, Never, nil
		w.dropQueues() // they are empty, and may be large
		return false, false
	}
	w.settle()
	now := w.clock.Now()
	next := w.next()
	if next <= now {
		return false, true
	}
	w.wakeAt = min(next, later(now, w.maxSleep))
	w.timer = timer
	w.arm(now)
	return true, true
}

// arm sets the timer of a goroutine that sleeps to wakeAt. It is called with
// mu held.
func (w *Watchdog) arm(now time.Duration) {
	if w.timer == nil || w.wakeAt <= now {
		return
	}
	w.timer.Reset(w.wakeAt - now)
}

// tellSome calls holders, up to a batch of them, and reports whether there was
// anything.
func (w *Watchdog) tellSome() (told bool) {
	for range MaxBatch {
		if !w.tellOne() {
			return told
		}
		told = true
	}
	return told
}

// tellOne takes one lease under the lock, so that a lease which is forgotten
// meanwhile is not told after.
func (w *Watchdog) tellOne() bool {
	w.mu.Lock()
	now := w.clock.Now()
	if w.ends.first() > now || len(w.ends.items) == 0 {
		w.mu.Unlock()
		return false
	}
	l := w.ends.items[0].lease
	if l.Expiry() <= now {
		w.forget(l)
		w.mu.Unlock()
		w.lose(l, ErrExpired)
		return true
	}
	l.alarm = Never
	w.place(l)
	w.mu.Unlock()
	l.holder.LeaseAlarm(l)
	return true
}

// lose calls the holder of a lease that has just been forgotten.
func (w *Watchdog) lose(l *Lease, cause error) {
	if ctx := context.Background(); w.lost.On(ctx) {
		w.lost.Tell(ctx, named(l, slog.Any("cause", cause))...)
	}
	l.holder.LeaseLost(l, cause)
}

// named adds the holder to attrs if it can describe itself; printing any
// other would read its fields without its locks.
func named(l *Lease, attrs ...slog.Attr) []slog.Attr {
	if v, ok := l.holder.(slog.LogValuer); ok {
		attrs = append(attrs, slog.Any("lease", v))
	}
	return attrs
}
