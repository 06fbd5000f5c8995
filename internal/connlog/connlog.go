package connlog

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// remindEvery is how often an outage that lasts is told again.
const remindEvery = 30 * time.Second

// Log is of one connection and those that replace it. All methods are safe
// for concurrent use and call the logger with no lock held. A nil Log is
// silent.
type Log struct {
	logger *slog.Logger
	name   slog.Attr

	mu     sync.Mutex // guards all below
	made   bool       // there was a connection before
	missed time.Time  // when the outage began; zero: there is none
	told   time.Time  // when it was last told of
}

// New makes the log of the connection of that name. A nil logger is silent.
func New(logger *slog.Logger, name string) *Log {
	if logger == nil {
		return nil
	}
	return &Log{logger: logger, name: slog.String("connection", name)}
}

// Missed begins an outage unless one lasts: somebody needs the connection.
func (l *Log) Missed() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed.IsZero() {
		l.missed = time.Now()
	}
}

// Failed tells why an attempt to connect failed.
func (l *Log) Failed(err error) {
	if l == nil {
		return
	}
	l.Missed()
	l.mu.Lock()
	now := time.Now()
	down, level := now.Sub(l.missed), slog.LevelDebug
	if l.told.Before(l.missed) || now.Sub(l.told) >= remindEvery {
		l.told, level = now, slog.LevelWarn
	}
	l.mu.Unlock()
	if l.on(level) {
		l.log(level, "cannot connect", slog.Duration("down", down), slog.Any("error", err))
	}
}

// Connected tells that there is a connection, and how long there was none.
func (l *Log) Connected(attrs ...slog.Attr) {
	if l == nil {
		return
	}
	l.mu.Lock()
	again, down := l.made, time.Since(l.missed)
	if l.missed.IsZero() {
		down = 0
	}
	l.made, l.missed = true, time.Time{}
	l.mu.Unlock()
	switch {
	case !l.on(slog.LevelInfo):
	case !again:
		l.log(slog.LevelInfo, "connected", attrs...)
	default:
		l.log(slog.LevelInfo, "reconnected", append(attrs, slog.Duration("down", down))...)
	}
}

// Lost tells that a connection broke that was in use. It begins no outage: who
// calls it may be late, and the next connection there already.
func (l *Log) Lost(err error, attrs ...slog.Attr) {
	if l == nil || !l.on(slog.LevelWarn) {
		return
	}
	l.log(slog.LevelWarn, "connection lost", append(attrs, slog.Any("error", err))...)
}

// GivenUp tells that a connection is left although it works, and why.
func (l *Log) GivenUp(cause error) {
	if l == nil || !l.on(slog.LevelWarn) {
		return
	}
	l.log(slog.LevelWarn, "connection given up", slog.Any("cause", cause))
}

// Idle tells that a connection ended which nobody needed.
func (l *Log) Idle(err error) {
	if l == nil || !l.on(slog.LevelInfo) {
		return
	}
	l.log(slog.LevelInfo, "idle connection ended", slog.Any("error", err))
}

// Refused tells that the server would not fence a connection that broke.
func (l *Log) Refused(id int64, addr string, err error) {
	if l == nil || !l.on(slog.LevelWarn) {
		return
	}
	l.log(slog.LevelWarn, "fence refused", slog.Int64("conn_id", id), slog.String("conn_addr", addr), slog.Any("error", err))
}

// on comes before anything is built for a line.
func (l *Log) on(level slog.Level) bool {
	return l.logger.Enabled(context.Background(), level)
}

func (l *Log) log(level slog.Level, message string, attrs ...slog.Attr) {
	l.logger.LogAttrs(context.Background(), level, message, append([]slog.Attr{l.name}, attrs...)...)
}
