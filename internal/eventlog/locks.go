package eventlog

import (
	"context"
	"log/slog"
	"time"
)

// NotAcquired logs a wait that got no lock, and why.
func (e *Log) NotAcquired(ctx context.Context, l Lock, waited time.Duration, err error) {
	e.debug(ctx, "not acquired", l, slog.Duration("waited", waited), failed(err))
}

// Acquired logs a wait that got a lock, and whether its lease is renewed.
func (e *Log) Acquired(ctx context.Context, l Lock, waited time.Duration, attempts int, lease time.Duration, renewed bool) {
	e.debug(ctx, "acquired", l, slog.Duration("waited", waited),
		slog.Int("attempts", attempts), slog.Duration("lease", lease), slog.Bool("renewed", renewed))
}

// LetThrough is Acquired for a call that holds nothing afterwards.
func (e *Log) LetThrough(ctx context.Context, l Lock, waited time.Duration, attempts int) {
	e.debug(ctx, "acquired", l, slog.Duration("waited", waited), slog.Int("attempts", attempts))
}

// Queued logs that a call waits behind others of this client.
func (e *Log) Queued(out Outside, l Lock, ahead int) {
	if ahead > 0 {
		e.later(out, slog.LevelDebug, "queued", l, slog.Int("ahead", ahead))
	}
}

// Waiting logs that another owner holds the lock.
func (e *Log) Waiting(out Outside, l Lock, ttl time.Duration) {
	e.later(out, slog.LevelDebug, "waiting", l, slog.Duration("ttl", ttl))
}

// NotLeading logs that a candidate could not acquire the lock that the leader has, and why. The
// caller logs only a new reason.
func (e *Log) NotLeading(ctx context.Context, l Lock, err error) {
	e.line(ctx, nil, slog.LevelWarn, "cannot lead", each, l, []slog.Attr{failed(err)})
}

// Released logs an unlock, and how long the lock was held.
func (e *Log) Released(ctx context.Context, l Lock, held time.Duration) {
	e.debug(ctx, "released", l, slog.Duration("held", held))
}

// ReleasedAs is Released for an owner without a hold here.
func (e *Log) ReleasedAs(ctx context.Context, l Lock) {
	e.debug(ctx, "released as", l)
}

// Unreleased logs an unlock that failed, since many callers ignore its error.
// uncertain says that it may have released the lock.
func (e *Log) Unreleased(ctx context.Context, l Lock, uncertain bool, err error) {
	if attrs := []slog.Attr{failed(err)}; uncertain {
		e.line(ctx, nil, slog.LevelWarn, "unlock uncertain", ten, l, attrs)
	} else {
		e.line(ctx, nil, slog.LevelWarn, "unlock failed", ten, l, attrs)
	}
}

// Extended logs an extension.
func (e *Log) Extended(ctx context.Context, l Lock, lease time.Duration) {
	e.debug(ctx, "extended", l, slog.Duration("lease", lease))
}

// Forced logs a forced unlock, and whether there was something to delete.
func (e *Log) Forced(ctx context.Context, l Lock, deleted bool) {
	e.info(ctx, "forced", l, slog.Bool("deleted", deleted))
}

// HeldLong logs a hold that lasts longer than the client considers usual.
func (e *Log) HeldLong(out Outside, l Lock, held time.Duration, renewed bool) {
	e.later(out, slog.LevelInfo, "held long", l, slog.Duration("held", held), slog.Bool("renewed", renewed))
}

// Lost logs holds of one owner that ended before they were released. server is where
// the lock is; held is how long the first of them lasted.
func (e *Log) Lost(out Outside, l Lock, server string, holds int, held time.Duration, renewed bool, cause error) {
	e.warnLater(out, "lease lost", l, slog.String("server", server), slog.Int("holds", holds),
		slog.Duration("held", held), slog.Bool("renewed", renewed), slog.Any("cause", cause))
}

// Unreplicated logs a grant that no replica acknowledged.
func (e *Log) Unreplicated(out Outside, l Lock, replicas int, err error) {
	e.warnLater(out, "grant not replicated", l, slog.Int("replicas", replicas), failed(err))
}

// Undone logs the undo of a lost acquire, and whether that had run.
func (e *Log) Undone(out Outside, l Lock, ran bool) {
	e.later(out, slog.LevelDebug, "acquire undone", l, slog.Bool("ran", ran))
}

// UndoFailed logs an undo that failed.
func (e *Log) UndoFailed(out Outside, l Lock, err error) {
	e.warnLater(out, "undo failed", l, failed(err))
}

// UndoRepeats logs that an undo is repeated for a lease, since the acquire may still
// arrive.
func (e *Log) UndoRepeats(out Outside, l Lock, every, lease time.Duration) {
	e.warnLater(out, "undo repeated", l, slog.Duration("every", every), slog.Duration("lasting", lease))
}

// Undecided logs a re-entry whose outcome could not be found out.
func (e *Log) Undecided(out Outside, l Lock, why string) {
	e.warnLater(out, "re-entry undecided", l, slog.String("reason", why))
}

// ActedAs logs that another program holds as an owner that this client uses for one
// acquire only.
func (e *Log) ActedAs(out Outside, l Lock) {
	e.warnLater(out, "owner used elsewhere", l)
}

// GivenBack logs that a grant was given back, since its caller had left.
func (e *Log) GivenBack(out Outside, l Lock) {
	e.later(out, slog.LevelDebug, "given back", l)
}

// NotGivenBack logs that such a grant could not be given back.
func (e *Log) NotGivenBack(out Outside, l Lock, err error) {
	e.warnLater(out, "give-back failed", l, failed(err))
}

// NotDone logs a change that went on after its caller had left, and failed.
func (e *Log) NotDone(out Outside, l Lock, err error) {
	e.warnLater(out, "change failed", l, failed(err))
}
