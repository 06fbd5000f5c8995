package eventlog

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Log writes the events of one client. All its methods may be called on a nil Log,
// which is silent. Without a logger, or below its level, no line is built. It is safe
// for concurrent use.
//
// The logger's handler is the caller's code, which must not run while the library holds
// a lock. A method that takes an [Outside] is called with a lock held, and logs later.
type Log struct {
	lines
	refused sync.Map // by command, those of CommandRefused
}

// Outside runs functions later, when no lock is held.
type Outside interface {
	// After runs fn when no lock is held.
	After(fn func())
}

// Lock is the lock and the owner that an event is about. A nil Owner is left out.
type Lock struct {
	Name  string       // as its user gave it
	Owner fmt.Stringer // String is called only if the line is written
}

// New makes an event log whose records all name the client. It is nil without a
// logger.
func New(l *slog.Logger, client string) *Log {
	if l == nil {
		return nil
	}
	return &Log{lines: lines{logger: catching(l).With("client", client)}}
}

// End writes the lines that are held back.
func (e *Log) End() {
	if e != nil {
		e.end()
	}
}

// Logger returns the logger that gets the events; nil: none does.
func (e *Log) Logger() *slog.Logger {
	if e == nil {
		return nil
	}
	return e.logger
}

// On tells whether events of a level are written.
func (e *Log) On(ctx context.Context, level slog.Level) bool {
	return e != nil && e.logger.Enabled(ctx, level)
}

// Warns tells whether warnings are written at all.
func (e *Log) Warns() bool { return e.On(context.Background(), slog.LevelWarn) }

// line writes a line, about a lock if l has a name. With an out it writes later. It does
// not keep attrs, so a line below the level costs no memory.
func (e *Log) line(ctx context.Context, out Outside, level slog.Level, message string, first int, l Lock, attrs []slog.Attr) {
	if !e.On(ctx, level) {
		return
	}
	all := append(l.attrs(), attrs...)
	if out == nil {
		e.write(ctx, level, message, first, all)
		return
	}
	out.After(func() { e.write(context.Background(), level, message, first, all) })
}

func (e *Log) debug(ctx context.Context, message string, l Lock, attrs ...slog.Attr) {
	e.line(ctx, nil, slog.LevelDebug, message, each, l, attrs)
}

func (e *Log) info(ctx context.Context, message string, l Lock, attrs ...slog.Attr) {
	e.line(ctx, nil, slog.LevelInfo, message, each, l, attrs)
}

func (e *Log) warn(message string, attrs ...slog.Attr) {
	e.line(context.Background(), nil, slog.LevelWarn, message, each, Lock{}, attrs)
}

func (e *Log) later(out Outside, level slog.Level, message string, l Lock, attrs ...slog.Attr) {
	e.line(context.Background(), out, level, message, each, l, attrs)
}

func (e *Log) warnLater(out Outside, message string, l Lock, attrs ...slog.Attr) {
	e.line(context.Background(), out, slog.LevelWarn, message, ten, l, attrs)
}

// attrs returns the attributes of the lock.
func (l Lock) attrs() []slog.Attr {
	attrs := make([]slog.Attr, 0, 8)
	if l.Name != "" {
		attrs = append(attrs, named(l.Name))
	}
	if l.Owner != nil {
		attrs = append(attrs, slog.String("owner", l.Owner.String()))
	}
	return attrs
}

// named is the attribute of a lock's name, cut after 128 bytes. Handlers quote it.
func named(lock string) slog.Attr {
	const most = 128
	if len(lock) > most {
		lock = fmt.Sprintf("%s… (%d bytes)", lock[:most], len(lock))
	}
	return slog.String("lock", lock)
}

func failed(err error) slog.Attr { return slog.Any("error", err) }

// Started logs that a client is ready. server is empty for a pool.
func (e *Log) Started(server string, watchdog, timeout time.Duration, replicas bool) {
	e.info(context.Background(), "client started", Lock{}, slog.String("server", cmp.Or(server, "pool")), slog.Duration("watchdog_timeout", watchdog),
		slog.Duration("command_timeout", timeout), slog.Bool("replica_sync", replicas))
}

// Draining logs that Shutdown waits for holds.
func (e *Log) Draining(holds int64) {
	e.info(context.Background(), "shutting down", Lock{}, slog.Int64("holds", holds))
}

// ObserverPanicked logs that an observer panicked, and with what.
func (e *Log) ObserverPanicked(with any) {
	e.line(context.Background(), nil, slog.LevelWarn, "observer panicked", one, Lock{}, []slog.Attr{failed(fmt.Errorf("%v", with))})
}

// Closed logs how many holds were not released, and how many commands that
// change something had no outcome in time.
func (e *Log) Closed(holds, open int64) {
	e.info(context.Background(), "client closed", Lock{}, slog.Int64("holds", holds), slog.Int64("open", open))
}
