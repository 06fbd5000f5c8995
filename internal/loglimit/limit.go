package loglimit

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Window is for how long a message that was told is held back.
const Window = 30 * time.Second

// Limit is of one message of one logger. All methods are safe for concurrent
// use and call the logger with no lock held. A nil Limit is silent.
type Limit struct {
	logger  *slog.Logger
	level   slog.Level
	message string
	first   int // so many are told before any is held back

	lasting atomic.Bool // one came since the last Over

	mu      sync.Mutex // guards all below
	since   time.Time  // when the first came since the last Over
	count   int        // how many came since then
	spoke   bool       // a line told of one of them
	began   time.Time  // when the window began; zero: there was none
	told    int        // lines in it
	held    int        // held back since the last line
	latest  []slog.Attr
	pending bool        // latest is to be told when the window ends
	timer   *time.Timer // of the window's end; nil: none
	timers  int         // how many there were
	closed  bool
	flushes sync.WaitGroup // timers that were set and neither stopped nor have run
}

// Of makes the limit of a message, of which so many are told before any is
// held back. A nil logger is silent.
func Of(logger *slog.Logger, level slog.Level, message string, first int) *Limit {
	if logger == nil {
		return nil
	}
	return &Limit{logger: logger, level: level, message: message, first: first}
}

// On tells whether anybody listens. It comes before anything is built for a
// line.
func (l *Limit) On(ctx context.Context) bool {
	return l != nil && l.logger.Enabled(ctx, l.level)
}

// Tell tells the message now, or holds it back. It keeps attrs.
func (l *Limit) Tell(ctx context.Context, attrs ...slog.Attr) {
	if !l.On(ctx) {
		return
	}
	l.mu.Lock()
	now := time.Now()
	if !l.lasting.Load() {
		l.since, l.count, l.spoke = now, 0, false
		l.lasting.Store(true)
	}
	l.count++
	switch past := now.Sub(l.began) >= Window; {
	case past && !l.pending:
		l.began, l.told = now, 1
	case past:
		l.again(now) // in the place of the one that the timer is late with
	case l.told < l.first:
		l.told++
	default:
		l.hold(now, attrs)
		l.mu.Unlock()
		l.logger.LogAttrs(ctx, slog.LevelDebug, l.message, attrs...)
		return
	}
	held := l.speak()
	l.mu.Unlock()
	l.log(ctx, attrs, held)
}

// Lasts tells whether one came since the last Over.
func (l *Limit) Lasts() bool { return l != nil && l.lasting.Load() }

// Over ends what the message tells of: how long that lasted, how many there
// were of it, and whether any line told of one. With none it returns zeros, at
// next to no cost. What is held back is not told any more, but counted by the
// next line.
func (l *Limit) Over() (lasted time.Duration, count int, spoke bool) {
	if !l.Lasts() {
		return 0, 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lasting.Load() {
		return 0, 0, false
	}
	l.lasting.Store(false)
	l.drop()
	return time.Since(l.since), l.count, l.spoke
}

// Close tells what is held back, and returns when no timer is left. What
// comes later is told or held back as before, but not told after.
func (l *Limit) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.closed = true
	pending, attrs, held := l.pending, l.latest, l.held
	if pending {
		l.speak()
	}
	l.mu.Unlock()
	if pending {
		l.log(context.Background(), attrs, held)
	}
	l.flushes.Wait()
}

// hold keeps the latest for the end of the window. It is called with mu held.
func (l *Limit) hold(now time.Time, attrs []slog.Attr) {
	l.held++
	if l.closed {
		return
	}
	l.latest, l.pending = attrs, true
	if l.timer != nil {
		return
	}
	l.flushes.Add(1)
	l.timers++
	nth := l.timers
	l.timer = time.AfterFunc(Window-now.Sub(l.began), func() {
		defer l.flushes.Done()
		l.flush(nth)
	})
}

// flush tells the latest of a window that has ended, unless its timer, the
// nth, was too late to be stopped.
func (l *Limit) flush(nth int) {
	l.mu.Lock()
	if l.timer == nil || l.timers != nth {
		l.mu.Unlock()
		return
	}
	attrs := l.latest
	l.again(time.Now())
	held := l.speak()
	l.mu.Unlock()
	l.log(context.Background(), attrs, held)
}

// again begins a window in which all others are held back. It is called with
// mu held.
func (l *Limit) again(now time.Time) { l.began, l.told = now, l.first }

// speak records that a line is told, and returns how many were held back
// before it. It is called with mu held.
func (l *Limit) speak() (held int) {
	held, l.held = l.held, 0
	l.spoke = true
	l.drop()
	return held
}

// drop forgets what is to be told when the window ends. It is called with mu
// held.
func (l *Limit) drop() {
	l.latest, l.pending = nil, false
	if l.timer != nil && l.timer.Stop() {
		l.flushes.Done()
	}
	l.timer = nil
}

func (l *Limit) log(ctx context.Context, attrs []slog.Attr, held int) {
	if held > 0 {
		attrs = append(slices.Clip(attrs), slog.Int("suppressed", held))
	}
	l.logger.LogAttrs(ctx, l.level, l.message, attrs...)
}
