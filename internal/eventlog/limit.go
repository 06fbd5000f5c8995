package eventlog

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// window is how long lines are held back after one of the same message was written.
const window = 30 * time.Second

const (
	each = 0
	one  = 1 // for messages about what all locks share

	// ten is how many lines about single locks are written before any is held back.
	// Each is news, but a client may lose all its locks at once.
	ten = 10
)

// lines writes to one logger, and limits repeated messages. Its methods must be called
// with no lock held, since the logger's handler is the caller's code; mu is not held for
// it either.
type lines struct {
	logger *slog.Logger

	limits  sync.Map   // by message, *limit
	mu      sync.Mutex // guards what follows, and what is in limits
	ended   bool
	flushes sync.WaitGroup // timers that were set and neither stopped nor have run
}

// write writes a line now, or holds it back if first lines of its message were written
// lately; with each it never does. It keeps attrs.
func (w *lines) write(ctx context.Context, level slog.Level, message string, first int, attrs []slog.Attr) {
	if first == each {
		w.logger.LogAttrs(ctx, level, message, attrs...)
		return
	}
	known, _ := w.limits.LoadOrStore(message, &limit{w: w, level: level, message: message, first: first})
	l := known.(*limit)
	w.mu.Lock()
	held, now := l.add(attrs)
	w.mu.Unlock()
	if now {
		l.line(ctx, attrs, held)
	} else {
		w.logger.LogAttrs(ctx, slog.LevelDebug, message, attrs...)
	}
}

// find returns the limit of a message, nil if it was never written.
func (w *lines) find(message string) *limit {
	known, _ := w.limits.Load(message)
	l, _ := known.(*limit)
	return l
}

// end writes the lines that are held back, and returns when no timer is left. Later lines
// are limited as before, but those held back are not written when the window ends.
func (w *lines) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	for _, known := range w.limits.Range {
		known.(*limit).flush(0)
	}
	w.flushes.Wait()
}

// limit is the state of one message.
type limit struct {
	w       *lines
	level   slog.Level
	message string
	first   int // how many are written before any is held back

	// Guarded by w.mu.
	since   time.Time // when the first line came after over
	count   int       // lines since then
	written bool      // one of them was written
	began   time.Time // when the window began; zero: there was none
	lines   int       // written in the window
	held    int       // held back since the last line
	latest  []slog.Attr
	timer   *time.Timer // for the window's end, when latest is written; nil: none is held back
}

// add counts a line. It tells whether to write that now, and how many were held back
// before it. It is called with mu held.
func (l *limit) add(attrs []slog.Attr) (held int, write bool) {
	now := time.Now()
	if l.count == 0 {
		l.since, l.written = now, false
	}
	l.count++
	switch past := now.Sub(l.began) >= window; {
	case past && l.timer == nil:
		l.began, l.lines = now, 1
	case past:
		l.began, l.lines = now, l.first // it replaces the line that the late timer would write
	case l.lines < l.first:
		l.lines++
	default:
		l.hold(now, attrs)
		return 0, false
	}
	return l.speak(), true
}

// hold keeps the latest line for the end of the window. It is called with mu held.
func (l *limit) hold(now time.Time, attrs []slog.Attr) {
	l.held++
	if l.w.ended {
		return
	}
	l.latest = attrs
	if l.timer == nil {
		l.w.flushes.Add(1)
		l.timer = time.AfterFunc(window-now.Sub(l.began), func() {
			defer l.w.flushes.Done()
			l.flush(window)
		})
	}
}

// flush writes the line held back in a window that began at least age ago. A timer that
// was stopped too late finds a newer window, or no line.
func (l *limit) flush(age time.Duration) {
	l.w.mu.Lock()
	now := time.Now()
	if l.timer == nil || now.Sub(l.began) < age {
		l.w.mu.Unlock()
		return
	}
	attrs := l.latest
	l.began, l.lines = now, l.first // the next window holds all lines back
	held := l.speak()
	l.w.mu.Unlock()
	l.line(context.Background(), attrs, held)
}

// lasts tells whether a line came since the last over.
func (l *limit) lasts() bool {
	if l == nil {
		return false
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.count > 0
}

// over ends the trouble that the message warns of. It returns how long that lasted, how
// many lines there were, and whether any was written; zeros if there was none. A line that
// is held back is no longer written, but the next line counts it.
func (l *limit) over() (lasted time.Duration, count int, written bool) {
	if l == nil {
		return 0, 0, false
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if l.count == 0 {
		return 0, 0, false
	}
	lasted, count, written = time.Since(l.since), l.count, l.written
	l.count = 0
	l.drop()
	return lasted, count, written
}

// speak records that a line is written, and returns how many were held back before
// it. It is called with mu held.
func (l *limit) speak() (held int) {
	held, l.held = l.held, 0
	l.written = true
	l.drop()
	return held
}

// drop forgets the line for the end of the window. It is called with mu held.
func (l *limit) drop() {
	l.latest = nil
	if l.timer != nil && l.timer.Stop() {
		l.w.flushes.Done()
	}
	l.timer = nil
}

func (l *limit) line(ctx context.Context, attrs []slog.Attr, held int) {
	if held > 0 {
		attrs = append(slices.Clip(attrs), slog.Int("suppressed", held))
	}
	l.w.logger.LogAttrs(ctx, l.level, l.message, attrs...)
}
