package eventlog

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

const renewalFailed = "renewal failed"

// Renewed logs how many leases one script extended, by its answers. If a failed renewal
// was logged, it also logs when renewals work again. That is so when failing returns 0:
// each lease whose renewal failed has been renewed, released or lost.
func (e *Log) Renewed(extended []bool, lease time.Duration, failing func() int) {
	if e == nil {
		return
	}
	ctx := context.Background()
	if before := e.find(renewalFailed); before.lasts() && failing() == 0 {
		if lasted, failures, refused := before.over(); refused {
			e.info(ctx, "renewals work again", Lock{}, slog.Duration("lasted", lasted), slog.Int("failures", failures))
		}
	}
	leases := 0
	for _, is := range extended {
		if is {
			leases++
		}
	}
	e.debug(ctx, "renewed", Lock{}, slog.Int("leases", leases), slog.Duration("lease", lease))
}

// NotRenewed logs that renewals of a lease begin to fail, and how long the client may still rely on it.
func (e *Log) NotRenewed(out Outside, l Lock, left time.Duration, err error) {
	e.warnLater(out, "lease not renewed", l, slog.Duration("trust_left", left), failed(err))
}

// RenewedAgain logs that a renewal of such a lease has succeeded, and how long they failed.
func (e *Log) RenewedAgain(out Outside, l Lock, lasted time.Duration) {
	e.line(context.Background(), out, slog.LevelInfo, "lease renewed again", ten, l, []slog.Attr{slog.Duration("lasted", lasted)})
}

// RenewalFailed logs how many leases were not extended, and the one of them that ends
// first. left is how long the client may still rely on that one.
func (e *Log) RenewalFailed(leases int, first Lock, left time.Duration, err error) {
	if e.Warns() {
		e.write(context.Background(), slog.LevelWarn, renewalFailed, one, slices.Concat([]slog.Attr{slog.Int("leases", leases)},
			first.attrs(), []slog.Attr{slog.Duration("trust_left", left), failed(err)}))
	}
}
