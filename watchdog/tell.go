package watchdog

import (
	"context"
	"log/slog"
)

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
