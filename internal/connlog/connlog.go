package connlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/loglimit"
)

// Log is of one connection and those that replace it. All methods are safe
// for concurrent use and call the logger with no lock held. A nil Log is
// silent.
type Log struct {
	logger *slog.Logger
	name   slog.Attr

	failed, lost, givenUp, idle, refused *loglimit.Limit

	mu     sync.Mutex // guards all below
	made   bool       // there was a connection before
	missed time.Time  // when the outage began; zero: there is none
}

// New makes the log of the connection of that name. A nil logger is silent.
func New(logger *slog.Logger, name string) *Log {
	if logger == nil {
		return nil
	}
	return &Log{
		logger:  logger,
		name:    slog.String("connection", name),
		failed:  loglimit.Of(logger, slog.LevelWarn, "cannot connect", 1),
		lost:    loglimit.Of(logger, slog.LevelWarn, "connection lost", 1),
		givenUp: loglimit.Of(logger, slog.LevelWarn, "connection given up", 1),
		idle:    loglimit.Of(logger, slog.LevelInfo, "idle connection ended", 1),
		refused: loglimit.Of(logger, slog.LevelWarn, "kill barrier refused", 1),
	}
}

// Close tells what is held back. It is called when nothing more comes.
func (l *Log) Close() {
	if l == nil {
		return
	}
	for _, limit := range []*loglimit.Limit{l.failed, l.lost, l.givenUp, l.idle, l.refused} {
		limit.Close()
	}
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
	if !l.failed.On(context.Background()) {
		return
	}
	l.mu.Lock()
	down := time.Since(l.missed)
	l.mu.Unlock()
	l.failed.Tell(context.Background(), l.name, slog.Duration("down", down), slog.Any("error", err))
}

// Connected tells that there is a connection, to which server, and how long there
// was none. server is empty if only a pool knows. One
// whose predecessor's end was held back is told at debug level.
func (l *Log) Connected(server string, attrs ...slog.Attr) {
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
	ends, told := 0, false
	for _, limit := range [...]*loglimit.Limit{l.failed, l.lost, l.givenUp, l.idle} {
		_, n, spoke := limit.Over()
		ends, told = ends+n, told || spoke
	}
	level := slog.LevelInfo
	if again && ends > 0 && !told {
		level = slog.LevelDebug
	}
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	if server == "" {
		server = "pool"
	}
	attrs = append([]slog.Attr{slog.String("server", server)}, attrs...)
	switch {
	case !again:
		l.log(level, "connected", attrs...)
	default:
		l.log(level, "reconnected", append(attrs, slog.Duration("down", down))...)
	}
}

// Lost tells that a connection broke that was in use. It begins no outage: who
// calls it may be late, and the next connection there already.
func (l *Log) Lost(err error, attrs ...slog.Attr) {
	if l == nil || !l.lost.On(context.Background()) {
		return
	}
	l.lost.Tell(context.Background(), append(append([]slog.Attr{l.name}, attrs...), slog.Any("error", err))...)
}

// GivenUp tells that a connection is left although it works, and why.
func (l *Log) GivenUp(cause error) {
	if l == nil || !l.givenUp.On(context.Background()) {
		return
	}
	l.givenUp.Tell(context.Background(), l.name, slog.Any("cause", cause))
}

// Idle tells that a connection ended which nobody needed.
func (l *Log) Idle(err error) {
	if l == nil || !l.idle.On(context.Background()) {
		return
	}
	l.idle.Tell(context.Background(), l.name, slog.Any("error", err))
}

// Refused tells that the server would not kill a connection that broke.
func (l *Log) Refused(id int64, addr string, err error) {
	if l == nil || !l.refused.On(context.Background()) {
		return
	}
	l.refused.Tell(context.Background(), l.name, slog.Int64("conn_id", id), slog.String("conn_addr", addr), slog.Any("error", err))
}

func (l *Log) log(level slog.Level, message string, attrs ...slog.Attr) {
	l.logger.LogAttrs(context.Background(), level, message, append([]slog.Attr{l.name}, attrs...)...)
}
