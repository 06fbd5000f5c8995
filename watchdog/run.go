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
		// In turns, so that neither a crowd of losses nor a crowd of
		// renewals keeps the other waiting.
		told := w.tellSome()
		renewed := w.renewDue()
		if told || renewed {
			continue
		}
		sleep, ok := w.plan()
		if !ok {
			return
		}
		if sleep <= 0 {
			continue
		}
		timer.Reset(sleep)
		select {
		case <-timer.C:
		case <-w.poke:
		}
	}
}

// plan decides how long to sleep. It is false when the goroutine has to end,
// and then no longer counts as running.
func (w *Watchdog) plan() (sleep time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live == 0 { // so it is when closed
		w.running = false
		w.dropQueues() // they are empty, and may be large
		return 0, false
	}
	now := w.clock.Now()
	next := w.next()
	if next <= now {
		return 0, true
	}
	w.wakeAt = min(next, later(now, w.maxSleep))
	return w.wakeAt - now, true
}

// tellSome tells holders what has come to pass, up to a batch of them, and
// reports whether there was anything.
func (w *Watchdog) tellSome() (told bool) {
	for range MaxBatch {
		if !w.tellOne() {
			return told
		}
		told = true
	}
	return told
}

// tellOne takes them one by one under the lock, so that a lease which is
// forgotten while others are told is not told after.
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

// lose tells the holder of a lease that has just been forgotten.
func (w *Watchdog) lose(l *Lease, cause error) {
	if w.log.Enabled(context.Background(), slog.LevelWarn) {
		w.log.Warn("lease lost", named(l, slog.Any("cause", cause))...)
	}
	l.holder.LeaseLost(l, cause)
}

// named adds the holder to attrs if it can describe itself; printing any
// other would read its fields without its locks.
func named(l *Lease, attrs ...any) []any {
	if v, ok := l.holder.(slog.LogValuer); ok {
		attrs = append(attrs, slog.Any("lease", v))
	}
	return attrs
}
