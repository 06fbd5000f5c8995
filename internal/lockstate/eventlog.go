package lockstate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/loglimit"
)

// eventLog writes the client's events to the caller's logger;
// docs/operations.md lists all of them. Without a logger, or below its level,
// nothing is built.
//
// The logger's handler is the caller's code. A method that takes a shard is
// called in a section of it, and defers the logging to its end.
type eventLog struct {
	l *slog.Logger // nil: silent
	w *warnings    // nil likewise
}

// warnings are limited, each by itself.
type warnings struct {
	renewals, losses, unlocks, uncertain, unreplicated, undos, repeated, undecided, givenBack, actedAs *loglimit.Limit
}

// severalWarnings is how many warnings of one kind about single locks are
// logged before any is held back. Each is news, but a client may lose all its
// locks at once.
const severalWarnings = 10

func newWarnings(l *slog.Logger) *warnings {
	return &warnings{
		renewals:     loglimit.Of(l, slog.LevelWarn, "renewal failed", 1),
		losses:       loglimit.Of(l, slog.LevelWarn, "lease lost", severalWarnings),
		unlocks:      loglimit.Of(l, slog.LevelWarn, "unlock failed", severalWarnings),
		uncertain:    loglimit.Of(l, slog.LevelWarn, "unlock uncertain", severalWarnings),
		unreplicated: loglimit.Of(l, slog.LevelWarn, "grant not replicated", severalWarnings),
		undos:        loglimit.Of(l, slog.LevelWarn, "undo failed", severalWarnings),
		repeated:     loglimit.Of(l, slog.LevelWarn, "undo repeated", severalWarnings),
		undecided:    loglimit.Of(l, slog.LevelWarn, "re-entry undecided", severalWarnings),
		givenBack:    loglimit.Of(l, slog.LevelWarn, "give-back failed", severalWarnings),
		actedAs:      loglimit.Of(l, slog.LevelWarn, "owner used elsewhere", severalWarnings),
	}
}

// newEventLog makes an event log whose records all name the client.
func newEventLog(l *slog.Logger, c *State) eventLog {
	if l == nil {
		return eventLog{}
	}
	l = l.With("client", c.id.String())
	return eventLog{l, newWarnings(l)}
}

// end logs what is held back.
func (e eventLog) end() {
	if e.w == nil {
		return
	}
	for _, l := range []*loglimit.Limit{
		e.w.renewals, e.w.losses, e.w.unlocks, e.w.uncertain, e.w.unreplicated, e.w.undos, e.w.repeated, e.w.undecided, e.w.givenBack,
		e.w.actedAs,
	} {
		l.Close()
	}
}

func (e eventLog) on(ctx context.Context, level slog.Level) bool {
	return e.l != nil && e.l.Enabled(ctx, level)
}

// later logs when the section has been left.
func (e eventLog) later(s *shard, level slog.Level, message string, attrs ...slog.Attr) {
	s.sec.after(func() { e.l.LogAttrs(context.Background(), level, message, attrs...) })
}

// warnLater logs a warning when the section has been left.
func (e eventLog) warnLater(s *shard, l *loglimit.Limit, attrs ...slog.Attr) {
	s.sec.after(func() { l.Tell(context.Background(), attrs...) })
}

// warns tells whether warnings are logged at all.
func (e eventLog) warns() bool { return e.on(context.Background(), slog.LevelWarn) }

// named is a lock's name, cut as quote does; handlers quote for themselves.
func named(lock string) slog.Attr {
	const most = 128
	if len(lock) > most {
		lock = fmt.Sprintf("%s… (%d bytes)", lock[:most], len(lock))
	}
	return slog.String("lock", lock)
}

func owned(o Owner) slog.Attr { return slog.String("owner", o.Text()) }

func failed(err error) slog.Attr { return slog.Any("error", err) }

// started tells of a client that works. server is empty for a pool.
func (e eventLog) started(c *State, server string) {
	ctx := context.Background()
	if !e.on(ctx, slog.LevelInfo) {
		return
	}
	if server == "" {
		server = "pool"
	}
	e.l.LogAttrs(ctx, slog.LevelInfo, "client started", slog.String("server", server),
		slog.Duration("watchdog_timeout", c.o.Watchdog), slog.Duration("command_timeout", c.o.Timeout), slog.Bool("replica_sync", c.o.Replicas))
}

// draining logs that Shutdown waits for holds.
func (e eventLog) draining(holds int64) {
	if ctx := context.Background(); e.on(ctx, slog.LevelInfo) {
		e.l.LogAttrs(ctx, slog.LevelInfo, "shutting down", slog.Int64("holds", holds))
	}
}

// closed logs how many holds were not released, and how many commands that
// change something had no outcome in time.
func (e eventLog) closed(holds, open int64) {
	if ctx := context.Background(); e.on(ctx, slog.LevelInfo) {
		e.l.LogAttrs(ctx, slog.LevelInfo, "client closed", slog.Int64("holds", holds), slog.Int64("open", open))
	}
}

// entered logs how a wait ended.
func (e eventLog) entered(ctx context.Context, w *Waiter, h *Hold, err error) {
	if !e.on(ctx, slog.LevelDebug) {
		return
	}
	c := w.n.s.c
	waited := slog.Duration("waited", max(c.now()-w.began, 0))
	if err != nil {
		e.l.LogAttrs(ctx, slog.LevelDebug, "not acquired", named(w.n.l.name), waited, failed(Named("acquire", w.n.l.name, err)))
		return
	}
	if h == nil { // let through, and nothing is held
		e.l.LogAttrs(ctx, slog.LevelDebug, "acquired", named(w.n.l.name), waited, slog.Int("attempts", w.tries))
		return
	}
	lease := c.o.Watchdog
	if w.Terms.HasLease {
		lease = w.Terms.Lease
	}
	e.l.LogAttrs(ctx, slog.LevelDebug, "acquired", named(w.n.l.name), owned(h.st.owner), waited,
		slog.Int("attempts", w.tries), slog.Duration("lease", lease), slog.Bool("renewed", !w.Terms.HasLease))
}

// queued logs that w waits behind others of this client.
func (e eventLog) queued(w *Waiter) {
	if ahead := w.queue().Len() - 1; ahead > 0 && e.on(context.Background(), slog.LevelDebug) {
		e.later(w.n.s, slog.LevelDebug, "queued", named(w.n.l.name), slog.Int("ahead", ahead))
	}
}

// waiting logs, once for each waiter, that another owner holds the lock.
func (e eventLog) waiting(w *Waiter, ttl time.Duration) {
	if !w.Told && !w.Once && !w.Settled && e.on(context.Background(), slog.LevelDebug) {
		e.later(w.n.s, slog.LevelDebug, "waiting", named(w.n.l.name), slog.Duration("ttl", ttl))
	}
}

// released logs how an unlock ended, since many callers ignore its error. held
// is how long the lock was held.
func (e eventLog) released(ctx context.Context, h *Hold, err error) {
	if err != nil {
		e.unreleased(ctx, h.l, h.st.owner, err)
		return
	}
	if e.on(ctx, slog.LevelDebug) {
		e.l.LogAttrs(ctx, slog.LevelDebug, "released", named(h.l.name), owned(h.st.owner), slog.Duration("held", h.l.c.now()-h.since))
	}
}

// releasedAs is released for an owner without a hold here.
func (e eventLog) releasedAs(ctx context.Context, l *Lock, o Owner, err error) {
	switch {
	case err != nil:
		e.unreleased(ctx, l, o, err)
	case e.on(ctx, slog.LevelDebug):
		e.l.LogAttrs(ctx, slog.LevelDebug, "released as", named(l.name), owned(o))
	}
}

func (e eventLog) unreleased(ctx context.Context, l *Lock, owner Owner, err error) {
	if !e.on(ctx, slog.LevelWarn) {
		return
	}
	limit := e.w.unlocks
	if errors.Is(err, ErrUncertain) {
		limit = e.w.uncertain
	}
	limit.Tell(ctx, named(l.name), owned(owner), failed(err))
}

func (e eventLog) extended(ctx context.Context, h *Hold, lease time.Duration) {
	if e.on(ctx, slog.LevelDebug) {
		e.l.LogAttrs(ctx, slog.LevelDebug, "extended", named(h.l.name), owned(h.st.owner), slog.Duration("lease", lease))
	}
}

func (e eventLog) forced(ctx context.Context, l *Lock, there bool) {
	if e.on(ctx, slog.LevelInfo) {
		e.l.LogAttrs(ctx, slog.LevelInfo, "forced", named(l.name), slog.Bool("deleted", there))
	}
}

// lost logs holds of one owner that ended before they were released.
func (e eventLog) lost(st *OwnerState, holds []*Hold, cause error) {
	if len(holds) == 0 || !e.warns() {
		return
	}
	now, since, renewed := st.n.now(), holds[0].since, false
	for _, h := range holds {
		since = min(since, h.since)
		renewed = renewed || !h.fixed && now < h.until
	}
	e.warnLater(st.n.s, e.w.losses, named(st.n.l.name), owned(st.owner), slog.Int("holds", len(holds)),
		slog.Duration("held", now-since), slog.Bool("renewed", renewed), slog.Any("cause", reason(cause)))
}

// renewed logs how many leases one script extended. After renewals were logged
// as failing, it also logs that none fails any more: each lease whose renewal
// failed has been renewed, released or lost.
func (e eventLog) renewed(r *renewal, mine []bool) {
	ctx := context.Background()
	if e.w != nil && e.w.renewals.Lasts() && r.c.watchdog.Failing() == 0 {
		if lasted, failures, refused := e.w.renewals.Over(); refused && e.on(ctx, slog.LevelInfo) {
			e.l.LogAttrs(ctx, slog.LevelInfo, "renewals work again", slog.Duration("lasted", lasted), slog.Int("failures", failures))
		}
	}
	if !e.on(ctx, slog.LevelDebug) {
		return
	}
	leases := 0
	for _, is := range mine {
		if is {
			leases++
		}
	}
	e.l.LogAttrs(ctx, slog.LevelDebug, "renewed", slog.Int("leases", leases), slog.Duration("lease", r.ttl))
}

// renewalFailed logs, of the leases that were not extended, the one that ends
// first.
func (e eventLog) renewalFailed(r *renewal, err error) {
	ctx := context.Background()
	if command.IsClosed(err) || !e.warns() {
		return
	}
	var first *OwnerState
	var left time.Duration
	for _, sub := range r.subs {
		s := sub.st.n.s
		sec := s.enter(mustNotBlock)
		if l := sub.st.lease; l != nil {
			if rest := l.Expiry() - sec.now(); first == nil || rest < left {
				first, left = sub.st, rest
			}
		}
		sec.leave()
	}
	if first != nil {
		e.w.renewals.Tell(ctx, slog.Int("leases", len(r.subs)),
			named(first.n.l.name), owned(first.owner), slog.Duration("trust_left", max(left, 0)), failed(err))
	}
}

// unreplicated logs a grant that no replica acknowledged.
func (e eventLog) unreplicated(st *OwnerState, r *command.Request) {
	if e.warns() {
		e.warnLater(st.n.s, e.w.unreplicated, named(st.n.l.name), owned(st.owner), slog.Int("replicas", r.Wire.Replicas))
	}
}

// undone logs how the undo of a lost acquire ended.
func (e eventLog) undone(st *OwnerState, err error) {
	ran := err == nil
	switch {
	case !ran && !errors.Is(err, ErrNotHeld):
		if e.warns() {
			e.warnLater(st.n.s, e.w.undos, named(st.n.l.name), owned(st.owner), failed(err))
		}
	case e.on(context.Background(), slog.LevelDebug):
		e.later(st.n.s, slog.LevelDebug, "acquire undone", named(st.n.l.name), owned(st.owner), slog.Bool("ran", ran))
	}
}

// undoRepeats logs that an acquire may still arrive for as long as a lease.
func (e eventLog) undoRepeats(st *OwnerState, lease time.Duration) {
	if e.warns() {
		e.warnLater(st.n.s, e.w.repeated, named(st.n.l.name), owned(st.owner), slog.Duration("every", undoEvery), slog.Duration("lasting", lease))
	}
}

// undecided logs a re-entry whose outcome could not be found out.
func (e eventLog) undecided(st *OwnerState, why string) {
	if e.warns() {
		e.warnLater(st.n.s, e.w.undecided, named(st.n.l.name), owned(st.owner), slog.String("reason", why))
	}
}

// actedAs logs that somebody holds as an owner that was used here for one
// acquisition.
func (e eventLog) actedAs(st *OwnerState) {
	if e.warns() {
		e.warnLater(st.n.s, e.w.actedAs, named(st.n.l.name), owned(st.owner))
	}
}

// givenBack logs what became of a grant that nobody wanted any more.
func (e eventLog) givenBack(st *OwnerState, err error) {
	switch {
	case err != nil && !errors.Is(err, ErrNotHeld):
		if e.warns() {
			e.warnLater(st.n.s, e.w.givenBack, named(st.n.l.name), owned(st.owner), failed(err))
		}
	case e.on(context.Background(), slog.LevelDebug):
		e.later(st.n.s, slog.LevelDebug, "given back", named(st.n.l.name), owned(st.owner))
	}
}
