package eventlog

import (
	"context"
	"log/slog"
	"time"
)

// MasterChanged logs that a Sentinel names another master.
func (e *Log) MasterChanged(from, to, sentinel string) {
	if ctx := context.Background(); e.On(ctx, slog.LevelWarn) {
		e.write(ctx, slog.LevelWarn, "master changed", slog.String("from", from), slog.String("to", to), slog.String("sentinel", sentinel))
	}
}

// FailoverTooSlow logs that a Sentinel waits for longer than a lease before it acts.
func (e *Log) FailoverTooSlow(sentinel string, downAfter, watchdog time.Duration) {
	if ctx := context.Background(); e.On(ctx, slog.LevelWarn) {
		e.write(ctx, slog.LevelWarn, "failover too slow",
			slog.String("sentinel", sentinel), slog.Duration("down_after", downAfter), slog.Duration("watchdog_timeout", watchdog))
	}
}

// SentinelUnheard logs that a Sentinel can't be listened to.
func (e *Log) SentinelUnheard(sentinel string, err error) {
	if ctx := context.Background(); e.On(ctx, slog.LevelWarn) {
		e.write(ctx, slog.LevelWarn, "sentinel unheard", slog.String("sentinel", sentinel), failed(err))
	}
}

// SlotsUnserved logs that a server of a cluster knows none for some slots.
func (e *Log) SlotsUnserved(server string, err error) {
	if ctx := context.Background(); e.On(ctx, slog.LevelWarn) {
		e.write(ctx, slog.LevelWarn, "slots without a server", slog.String("server", server), failed(err))
	}
}
