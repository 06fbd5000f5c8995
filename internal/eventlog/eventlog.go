// Package eventlog writes a client's events to its caller's logger. It is told of them
// in plain values, and knows nothing of what they come from. docs/operations.md lists
// all of them.
package eventlog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/loglimit"
)

// Log writes the events of one client. All its methods may be called on a nil Log,
// which is silent. Without a logger, or below its level, nothing is built. It is safe
// for concurrent use.
//
// The logger's handler is the caller's code, which must not meet a lock of the
// library's. A method that takes an [Outside] is called with one held, and puts the
// logging off.
type Log struct {
	l *slog.Logger

	// Warnings are limited, each by itself.
	renewals, losses, unlocks, uncertain, unreplicated, undos, repeated, undecided, givenBack, actedAs *loglimit.Limit
}

// Outside runs functions later, when no lock is held any more.
type Outside interface {
	// After runs fn when no lock is held.
	After(fn func())
}

// Lock is which lock an event is of, and whose. A nil Owner is left out.
type Lock struct {
	Name  string       // as its user gave it
	Owner fmt.Stringer // its text is asked for only if it is written
}

// severalWarnings is how many warnings of one kind about single locks are
// logged before any is held back. Each is news, but a client may lose all its
// locks at once.
const severalWarnings = 10

// New makes an event log whose records all name the client. It is nil without a
// logger.
func New(l *slog.Logger, client string) *Log {
	if l == nil {
		return nil
	}
	l = l.With("client", client)
	return &Log{
		l:            l,
		renewals:     loglimit.Of(l, slog.LevelWarn, "renewal failed", 1),
		losses:       loglimit.Of(l, slog.LevelWarn, "lease lost", severalWarnings),
		unlocks:      loglimit.Of(l, slog.LevelWarn, "unlock failed", severalWarnings),
		uncertain:    loglimit.Of(l, slog.LevelWarn, "unlock uncertain", severalWarnings),
		unreplicated: loglimit.Of(l, slog.LevelWarn, "grant not replicated", severalWarnings),
		undos:        loglimit.Of(l, slog.LevelWarn, "undo failed", severalWarnings),
		repeated:     loglimit.Of(l, slog.LevelWarn, "undo repeated", severalWarnings),
		undecided:    loglimit.Of(l, slog.LevelWarn, "re-entry undecided", severalWarnings),
		givenBack:    loglimit.Of(l, slog.LevelWarn, "give-back failed", severalWarnings),
		actedAs:      loglimit.Of(l, slog.LevelWarn, "owner used elsewhere", severalWarnings),
	}
}

// End logs what is held back.
func (e *Log) End() {
	if e == nil {
		return
	}
	for _, l := range []*loglimit.Limit{
		e.renewals, e.losses, e.unlocks, e.uncertain, e.unreplicated, e.undos, e.repeated, e.undecided, e.givenBack, e.actedAs,
	} {
		l.Close()
	}
}

// Logger is where the events go, for the parts that log for themselves; nil: nowhere.
func (e *Log) Logger() *slog.Logger {
	if e == nil {
		return nil
	}
	return e.l
}

// On tells whether events of a level are written.
func (e *Log) On(ctx context.Context, level slog.Level) bool {
	return e != nil && e.l.Enabled(ctx, level)
}

// Warns tells whether warnings are written at all.
func (e *Log) Warns() bool { return e.On(context.Background(), slog.LevelWarn) }

// later logs when no lock is held.
func (e *Log) later(out Outside, level slog.Level, message string, attrs ...slog.Attr) {
	out.After(func() { e.l.LogAttrs(context.Background(), level, message, attrs...) })
}

// warnLater logs a warning when no lock is held.
func (e *Log) warnLater(out Outside, l *loglimit.Limit, attrs ...slog.Attr) {
	out.After(func() { l.Tell(context.Background(), attrs...) })
}

// attrs are those of the lock, followed by more.
func (l Lock) attrs(more ...slog.Attr) []slog.Attr {
	attrs := make([]slog.Attr, 0, 2+len(more))
	attrs = append(attrs, named(l.Name))
	if l.Owner != nil {
		attrs = append(attrs, slog.String("owner", l.Owner.String()))
	}
	return append(attrs, more...)
}

// named is a lock's name, cut to a length that a line bears; handlers quote for
// themselves.
func named(lock string) slog.Attr {
	const most = 128
	if len(lock) > most {
		lock = fmt.Sprintf("%s… (%d bytes)", lock[:most], len(lock))
	}
	return slog.String("lock", lock)
}

func failed(err error) slog.Attr { return slog.Any("error", err) }

// Started tells of a client that works. server is empty for a pool.
func (e *Log) Started(server string, watchdog, timeout time.Duration, replicas bool) {
	ctx := context.Background()
	if !e.On(ctx, slog.LevelInfo) {
		return
	}
	if server == "" {
		server = "pool"
	}
	e.l.LogAttrs(ctx, slog.LevelInfo, "client started", slog.String("server", server),
		slog.Duration("watchdog_timeout", watchdog), slog.Duration("command_timeout", timeout), slog.Bool("replica_sync", replicas))
}

// Draining logs that Shutdown waits for holds.
func (e *Log) Draining(holds int64) {
	if ctx := context.Background(); e.On(ctx, slog.LevelInfo) {
		e.l.LogAttrs(ctx, slog.LevelInfo, "shutting down", slog.Int64("holds", holds))
	}
}

// Closed logs how many holds were not released, and how many commands that
// change something had no outcome in time.
func (e *Log) Closed(holds, open int64) {
	if ctx := context.Background(); e.On(ctx, slog.LevelInfo) {
		e.l.LogAttrs(ctx, slog.LevelInfo, "client closed", slog.Int64("holds", holds), slog.Int64("open", open))
	}
}
