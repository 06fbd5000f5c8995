package eventlog

import (
	"cmp"
	"context"
	"log/slog"
	"time"
)

// Conn logs the events of one connection and its successors: made, lost, given up, ended
// while it was not needed, failed to connect, made again. All methods are safe for
// concurrent use and call the logger with no lock held.
//
// An outage begins when a connection is missed and ends when there is one; that line has
// its length. If the line about a break was held back, so is the one about its end.
type Conn struct {
	lines
	name    slog.Attr
	waiting string                                  // names the count of what waits when it breaks
	again   func(server string, down time.Duration) // called for each that replaces another; nil: not called

	// Guarded by mu.
	made   bool      // there was a connection before
	missed time.Time // when the outage began; zero: there is none
}

// The messages of trouble with a connection, which the next connection ends.
const (
	cannotConnect = "cannot connect"
	connLost      = "connection lost"
	connGivenUp   = "connection given up"
	connIdle      = "idle connection ended"
)

// NewConn makes a Conn for the connection of that name. waiting is the attribute that
// counts what waits on it when it breaks. A nil logger is silent. again is called for
// each connection that replaces another, and must not block; it may be nil.
func NewConn(logger *slog.Logger, name, waiting string, again func(server string, down time.Duration)) *Conn {
	l := &Conn{name: slog.String("connection", name), waiting: waiting, again: again}
	if logger != nil {
		l.logger = catching(logger)
	}
	return l
}

// Close writes the lines that are held back. It must be the last call.
func (l *Conn) Close() { l.end() }

// Missed begins an outage unless there is one: the connection is needed. It returns
// when the outage began.
func (l *Conn) Missed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed.IsZero() {
		l.missed = time.Now()
	}
	return l.missed
}

// Failed logs why an attempt to connect failed.
func (l *Conn) Failed(err error) {
	l.tell(slog.LevelWarn, cannotConnect, slog.Duration("down", time.Since(l.Missed())), failed(err))
}

// Connected counts a connection, to which server, and ends the outage. server is empty if only a
// pool knows it. id and addr are what the server calls the connection; a negative id is not logged.
// tell writes the line, which may take some time, with how long there was no connection. It is at
// debug level if those about the outage were all held back.
func (l *Conn) Connected(server string, id int64, addr string) (tell func()) {
	l.mu.Lock()
	again, down := l.made, time.Duration(0)
	if !l.missed.IsZero() {
		down = time.Since(l.missed)
	}
	l.made, l.missed = true, time.Time{}
	l.mu.Unlock()
	if again && l.again != nil {
		l.again(server, down)
	}
	if l.logger == nil {
		return func() {}
	}
	return func() {
		ends, told := 0, false
		for _, message := range [...]string{cannotConnect, connLost, connGivenUp, connIdle} {
			_, n, written := l.find(message).over()
			ends, told = ends+n, told || written
		}
		level, ctx := slog.LevelInfo, context.Background()
		if again && ends > 0 && !told {
			level = slog.LevelDebug
		}
		if !l.logger.Enabled(ctx, level) {
			return
		}
		attrs := []slog.Attr{l.name, slog.String("server", cmp.Or(server, "pool"))}
		if id >= 0 {
			attrs = append(attrs, slog.Int64("conn_id", id), slog.String("conn_addr", addr))
		}
		if again {
			l.write(ctx, level, "reconnected", each, append(attrs, slog.Duration("down", down)))
		} else {
			l.write(ctx, level, "connected", each, attrs)
		}
	}
}

// Lost logs that a connection broke, and how many waited on it. It begins no outage: it
// may be called late, when the next connection is there already.
func (l *Conn) Lost(err error, waiting int) {
	l.tell(slog.LevelWarn, connLost, slog.Int(l.waiting, waiting), failed(err))
}

// GivenUp logs that a connection is left although it works, and why.
func (l *Conn) GivenUp(cause error) {
	l.tell(slog.LevelWarn, connGivenUp, slog.Any("cause", cause))
}

// Idle logs that a connection ended while it was not needed.
func (l *Conn) Idle(err error) { l.tell(slog.LevelInfo, connIdle, failed(err)) }

// Refused logs that the server refused to kill a connection that broke.
func (l *Conn) Refused(id int64, addr string, err error) {
	l.tell(slog.LevelWarn, "kill barrier refused", slog.Int64("conn_id", id), slog.String("conn_addr", addr), failed(err))
}

// ReplicasHidden logs that a server refuses to list its replicas, and how many the topology
// lists instead.
func (l *Conn) ReplicasHidden(server string, replicas int, err error) {
	l.tell(slog.LevelWarn, "replicas hidden", slog.String("server", server), slog.Int("replicas", replicas), failed(err))
}

// tell writes a line, or holds it back if one was written lately. It does not keep attrs.
func (l *Conn) tell(level slog.Level, message string, attrs ...slog.Attr) {
	if ctx := context.Background(); l.logger != nil && l.logger.Enabled(ctx, level) {
		l.write(ctx, level, message, one, append([]slog.Attr{l.name}, attrs...))
	}
}
