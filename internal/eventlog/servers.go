package eventlog

import (
	"context"
	"log/slog"
	"time"
)

// MasterChanged logs that a Sentinel names another master.
func (e *Log) MasterChanged(from, to, sentinel string) {
	e.warn("master changed", slog.String("from", from), slog.String("to", to), slog.String("sentinel", sentinel))
}

// FailoverTooSlow logs that a Sentinel waits too long before a failover: leases of the
// watchdog timeout may end meanwhile.
func (e *Log) FailoverTooSlow(sentinel string, downAfter, watchdog time.Duration) {
	e.warn("failover too slow", slog.String("sentinel", sentinel), slog.Duration("down_after", downAfter), slog.Duration("watchdog_timeout", watchdog))
}

// SentinelUnheard logs that a Sentinel can't be listened to.
func (e *Log) SentinelUnheard(sentinel string, err error) {
	e.warn("sentinel unheard", slog.String("sentinel", sentinel), failed(err))
}

// SlotsUnserved logs that a server of a cluster knows no master for some slots.
func (e *Log) SlotsUnserved(server string, err error) {
	e.warn("slots without a server", slog.String("server", server), failed(err))
}

// Untold logs that a server does not report changes of the keys that are held.
func (e *Log) Untold(server string, err error) {
	e.info(context.Background(), "losses are noticed at renewals only", Lock{}, slog.String("server", server), failed(err))
}
