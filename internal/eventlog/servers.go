package eventlog

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// MasterChanged logs that another server is the master, as a Sentinel has said first;
// empty: without Sentinels.
func (e *Log) MasterChanged(from, to, sentinel string) {
	attrs := []slog.Attr{slog.String("from", from), slog.String("to", to)}
	if sentinel != "" {
		attrs = append(attrs, slog.String("sentinel", sentinel))
	}
	e.warn("master changed", attrs...)
}

// TwoMasters logs that a node of the URL says that it is a master too, beside the one that
// the client stays with.
func (e *Log) TwoMasters(stays, other string) {
	e.warn("two masters", slog.String("server", stays), failed(fmt.Errorf("%s is a master too, as it or its replica says", other)))
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

// IDsUnchecked logs that a server of a cluster hides its node id, or has another one than
// the cluster's map.
func (e *Log) IDsUnchecked(server string, err error) {
	e.warn("node ids not checked", slog.String("server", server), failed(err))
}

// Untracked logs that a server does not report changes of the keys that are held.
func (e *Log) Untracked(server string, err error) {
	e.info(context.Background(), "losses are noticed at renewals only", Lock{}, slog.String("server", server), failed(err))
}
