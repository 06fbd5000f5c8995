package eventlog

import (
	"cmp"
	"context"
	"log/slog"
	"time"
)

// Conn has the events of one connection and those that replace it: made, lost, ended
// while nobody needed it, not to be had, made again. All methods are safe for
// concurrent use and call the logger with no lock held.
//
// Its one idea is the outage. It begins when a connection is missed and ends when
// there is one, with its length. A break that was held back has its end held back too.
type Conn struct {
	lines
	name    slog.Attr
	waiting string                                  // what is counted when it breaks
	again   func(server string, down time.Duration) // called for each that replaces another; nil: nothing is

	// Guarded by mu.
	made   bool      // there was a connection before
	missed time.Time // when the outage began; zero: there is none
}

// The messages that tell of a connection's end.
const (
	cannotConnect = "cannot connect"
	connLost      = "connection lost"
	connGivenUp   = "connection given up"
	connIdle      = "idle connection ended"
)

// NewConn makes the events of the connection of that name. waiting is the attribute
// that counts what waits on it when it breaks. A nil logger is silent. again is called
// for each connection that takes the place of another, and must not block; nil: nobody
// counts.
func NewConn(logger *slog.Logger, name, waiting string, again func(server string, down time.Duration)) *Conn {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Conn{lines: lines{logger: catching(logger)}, name: slog.String("connection", name), waiting: waiting, again: again}
}

// ConnectedAs is Connected in two steps, where the server was asked what it calls the
// connection: it is counted at once, and tell tells the log, which may take its time.
func (l *Conn) ConnectedAs(server string, id int64, addr string) (tell func()) {
	again, down := l.connected(server)
	return func() {
		l.tellConnected(server, again, down, slog.Int64("conn_id", id), slog.String("conn_addr", addr))
	}
}

// Close writes what is held back. It is called when nothing more comes.
func (l *Conn) Close() { l.end() }

// Missed begins an outage unless one lasts: somebody needs the connection. It gives
// the beginning.
func (l *Conn) Missed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed.IsZero() {
		l.missed = time.Now()
	}
	return l.missed
}

// Failed tells why an attempt to connect failed.
func (l *Conn) Failed(err error) {
	l.tell(slog.LevelWarn, cannotConnect, slog.Duration("down", time.Since(l.Missed())), failed(err))
}

// Connected tells that there is a connection, to which server, and how long there was
// none. server is empty if only a pool knows. One whose predecessor's end was held back
// is told at debug level.
func (l *Conn) Connected(server string) {
	again, down := l.connected(server)
	l.tellConnected(server, again, down)
}

// connected counts a connection. It tells whether it replaces another, and how long there
// was none.
func (l *Conn) connected(server string) (again bool, down time.Duration) {
	l.mu.Lock()
	if again = l.made; !l.missed.IsZero() {
		down = time.Since(l.missed)
	}
	l.made, l.missed = true, time.Time{}
	l.mu.Unlock()
	if again && l.again != nil {
		l.again(server, down)
	}
	return again, down
}

// tellConnected is Connected without counting. known is what else is.
func (l *Conn) tellConnected(server string, again bool, down time.Duration, known ...slog.Attr) {
	ends, told := 0, false
	for _, message := range [...]string{cannotConnect, connLost, connGivenUp, connIdle} {
		_, n, written := l.find(message).over()
		ends, told = ends+n, told || written
	}
	level := slog.LevelInfo
	if again && ends > 0 && !told {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if !l.on(ctx, level) {
		return
	}
	attrs := append([]slog.Attr{l.name, slog.String("server", cmp.Or(server, "pool"))}, known...)
	if again {
		l.write(ctx, level, "reconnected", each, append(attrs, slog.Duration("down", down)))
	} else {
		l.write(ctx, level, "connected", each, attrs)
	}
}

// Lost tells that a connection broke on which so many waited. It begins no outage: who
// calls it may be late, and the next connection there already.
func (l *Conn) Lost(err error, waiting int) {
	l.tell(slog.LevelWarn, connLost, slog.Int(l.waiting, waiting), failed(err))
}

// GivenUp tells that a connection is left although it works, and why.
func (l *Conn) GivenUp(cause error) {
	l.tell(slog.LevelWarn, connGivenUp, slog.Any("cause", cause))
}

// Idle tells that a connection ended which nobody needed.
func (l *Conn) Idle(err error) { l.tell(slog.LevelInfo, connIdle, failed(err)) }

// Refused tells that the server would not kill a connection that broke.
func (l *Conn) Refused(id int64, addr string, err error) {
	l.tell(slog.LevelWarn, "kill barrier refused", slog.Int64("conn_id", id), slog.String("conn_addr", addr), failed(err))
}

// tell writes a line, unless there was one lately. It does not keep attrs.
func (l *Conn) tell(level slog.Level, message string, attrs ...slog.Attr) {
	if ctx := context.Background(); l.on(ctx, level) {
		l.write(ctx, level, message, one, append([]slog.Attr{l.name}, attrs...))
	}
}
