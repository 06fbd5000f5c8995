package eventlog

import (
	"context"
	"log/slog"
	"time"
)

const renewalFailed = "renewal failed"

// Renewed logs how many leases one script extended, whose answers are given. After
// renewals were logged as failing, it also logs that none fails any more: each lease
// whose renewal failed has been renewed, released or lost.
func (e *Log) Renewed(extended []bool, lease time.Duration, failing func() int) {
	ctx := context.Background()
	if e == nil {
		return
	}
	if before := e.find(renewalFailed); before.lasts() && failing() == 0 {
		if lasted, failures, refused := before.over(); refused && e.On(ctx, slog.LevelInfo) {
			e.write(ctx, slog.LevelInfo, "renewals work again", slog.Duration("lasted", lasted), slog.Int("failures", failures))
		}
	}
	if !e.On(ctx, slog.LevelDebug) {
		return
	}
	leases := 0
	for _, is := range extended {
		if is {
			leases++
		}
	}
	e.write(ctx, slog.LevelDebug, "renewed", slog.Int("leases", leases), slog.Duration("lease", lease))
}

// RenewalFailed logs, of the leases that were not extended, the one that ends
// first. left is for how long it is still trusted.
func (e *Log) RenewalFailed(leases int, first Lock, left time.Duration, err error) {
	if e.Warns() {
		e.limited(context.Background(), slog.LevelWarn, renewalFailed, one, append([]slog.Attr{slog.Int("leases", leases)},
			first.attrs(slog.Duration("trust_left", left), failed(err))...)...)
	}
}
