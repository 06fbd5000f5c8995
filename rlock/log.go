package rlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rlock-go/redisson/internal/loglimit"
	"github.com/rlock-go/redisson/internal/pipeline"
)

// journal tells the caller's logger what an operator would want to have seen;
// docs/operations.md lists all of it. What there is no logger for, or what its
// level hides, is not even built.
//
// The logger's handler is the caller's code. Methods that take a shard are
// called with it locked and leave the telling to its unlock.
type journal struct {
	l *slog.Logger // nil: silent
	w *warnings    // nil likewise
}

// warnings are limited, each by itself.
type warnings struct {
	renewals, losses, unlocks, uncertain, unreplicated, undos, repeated, undecided, givenBack *loglimit.Limit
}

// several is how many of a warning about single locks are told before any is
// held back: each is news, but all locks of a client may be lost at once.
const several = 10

func newWarnings(l *slog.Logger) *warnings {
	return &warnings{
		renewals:     loglimit.Of(l, slog.LevelWarn, "renewal failed", 1),
		losses:       loglimit.Of(l, slog.LevelWarn, "lease lost", several),
		unlocks:      loglimit.Of(l, slog.LevelWarn, "unlock failed", several),
		uncertain:    loglimit.Of(l, slog.LevelWarn, "unlock uncertain", several),
		unreplicated: loglimit.Of(l, slog.LevelWarn, "grant not replicated", several),
		undos:        loglimit.Of(l, slog.LevelWarn, "undo failed", several),
		repeated:     loglimit.Of(l, slog.LevelWarn, "undo repeated", several),
		undecided:    loglimit.Of(l, slog.LevelWarn, "re-entry undecided", several),
		givenBack:    loglimit.Of(l, slog.LevelWarn, "give-back failed", several),
	}
}

// newJournal makes one whose lines all name the client.
func newJournal(l *slog.Logger, c *Client) journal {
	if l == nil {
		return journal{}
	}
	l = l.With("client", c.id.String())
	return journal{l, newWarnings(l)}
}

// end tells what is held back.
func (j journal) end() {
	if j.w == nil {
		return
	}
	for _, l := range []*loglimit.Limit{
		j.w.renewals, j.w.losses, j.w.unlocks, j.w.uncertain, j.w.unreplicated, j.w.undos, j.w.repeated, j.w.undecided, j.w.givenBack,
	} {
		l.Close()
	}
}

func (j journal) on(ctx context.Context, level slog.Level) bool {
	return j.l != nil && j.l.Enabled(ctx, level)
}

// later tells of it when the shard is unlocked.
func (j journal) later(s *shard, level slog.Level, message string, attrs ...slog.Attr) {
	s.later = append(s.later, func() { j.l.LogAttrs(context.Background(), level, message, attrs...) })
}

// warnLater warns of it when the shard is unlocked.
func (j journal) warnLater(s *shard, l *loglimit.Limit, attrs ...slog.Attr) {
	s.later = append(s.later, func() { l.Tell(context.Background(), attrs...) })
}

// warns tells whether anybody listens to warnings.
func (j journal) warns() bool { return j.on(context.Background(), slog.LevelWarn) }

// named is a lock's name, cut as quote does; handlers quote for themselves.
func named(lock string) slog.Attr {
	const most = 128
	if len(lock) > most {
		lock = fmt.Sprintf("%s… (%d bytes)", lock[:most], len(lock))
	}
	return slog.String("lock", lock)
}

func owned(o Owner) slog.Attr { return slog.String("owner", o.text()) }

func failed(err error) slog.Attr { return slog.Any("error", err) }

// started tells of a client that works. server is empty for a pool.
func (j journal) started(c *Client, server string) {
	ctx := context.Background()
	if !j.on(ctx, slog.LevelInfo) {
		return
	}
	if server == "" {
		server = "pool"
	}
	j.l.LogAttrs(ctx, slog.LevelInfo, "client started", slog.String("server", server),
		slog.Duration("watchdog_timeout", c.o.watchdog), slog.Duration("command_timeout", c.o.timeout), slog.Bool("replica_sync", c.o.replicas))
}

// draining tells that Shutdown waits for so many holds.
func (j journal) draining(holds int64) {
	if ctx := context.Background(); j.on(ctx, slog.LevelInfo) {
		j.l.LogAttrs(ctx, slog.LevelInfo, "shutting down", slog.Int64("holds", holds))
	}
}

// closed tells of holds that were not released and of commands that change
// something and whose outcome did not come in time.
func (j journal) closed(holds, open int64) {
	if ctx := context.Background(); j.on(ctx, slog.LevelInfo) {
		j.l.LogAttrs(ctx, slog.LevelInfo, "client closed", slog.Int64("holds", holds), slog.Int64("open", open))
	}
}

// entered tells how a wait ended.
func (j journal) entered(ctx context.Context, w *waiter, h *Hold, err error) {
	if !j.on(ctx, slog.LevelDebug) {
		return
	}
	c := w.n.c
	waited := slog.Duration("waited", max(c.now()-w.joined, 0))
	if err != nil {
		j.l.LogAttrs(ctx, slog.LevelDebug, "not acquired", named(w.n.l.name), waited, failed(err))
		return
	}
	lease := c.o.watchdog
	if w.terms.hasLease {
		lease = w.terms.lease
	}
	j.l.LogAttrs(ctx, slog.LevelDebug, "acquired", named(w.n.l.name), owned(h.st.owner), waited,
		slog.Int("attempts", w.tries), slog.Duration("lease", lease), slog.Bool("renewed", !w.terms.hasLease))
}

// queued tells that w waits behind others of this client.
func (j journal) queued(w *waiter) {
	if ahead := w.n.queue.size - 1; ahead > 0 && j.on(context.Background(), slog.LevelDebug) {
		j.later(w.n.s, slog.LevelDebug, "queued", named(w.n.l.name), slog.Int("ahead", ahead))
	}
}

// waiting tells, once for each waiter, that the server said "taken".
func (j journal) waiting(w *waiter, ttl time.Duration) {
	if !w.refused && !w.once && !w.ended && j.on(context.Background(), slog.LevelDebug) {
		j.later(w.n.s, slog.LevelDebug, "waiting", named(w.n.l.name), slog.Duration("ttl", ttl))
	}
}

// released tells how an unlock ended, since many callers don't look. held is
// for how long the lock had been held.
func (j journal) released(ctx context.Context, h *Hold, err error) {
	if err != nil {
		j.unreleased(ctx, h.l, h.st.owner, err)
		return
	}
	if j.on(ctx, slog.LevelDebug) {
		j.l.LogAttrs(ctx, slog.LevelDebug, "released", named(h.l.name), owned(h.st.owner), slog.Duration("held", h.l.c.now()-h.since))
	}
}

// releasedAs is released for an owner without a hold here.
func (j journal) releasedAs(ctx context.Context, l *Lock, o Owner, err error) {
	switch {
	case err != nil:
		j.unreleased(ctx, l, o, err)
	case j.on(ctx, slog.LevelDebug):
		j.l.LogAttrs(ctx, slog.LevelDebug, "released as", named(l.name), owned(o))
	}
}

func (j journal) unreleased(ctx context.Context, l *Lock, owner Owner, err error) {
	if !j.on(ctx, slog.LevelWarn) {
		return
	}
	limit := j.w.unlocks
	if errors.Is(err, ErrUncertain) {
		limit = j.w.uncertain
	}
	limit.Tell(ctx, named(l.name), owned(owner), failed(err))
}

func (j journal) extended(ctx context.Context, h *Hold, lease time.Duration) {
	if j.on(ctx, slog.LevelDebug) {
		j.l.LogAttrs(ctx, slog.LevelDebug, "extended", named(h.l.name), owned(h.st.owner), slog.Duration("lease", lease))
	}
}

func (j journal) forced(ctx context.Context, l *Lock, there bool) {
	if j.on(ctx, slog.LevelInfo) {
		j.l.LogAttrs(ctx, slog.LevelInfo, "forced", named(l.name), slog.Bool("deleted", there))
	}
}

// lost tells of holds of one owner that ended before they were released.
func (j journal) lost(st *ownerState, holds []*Hold, cause error) {
	if len(holds) == 0 || !j.warns() {
		return
	}
	now, since, renewed := st.n.c.now(), holds[0].since, false
	for _, h := range holds {
		since = min(since, h.since)
		renewed = renewed || !h.fixed && now < h.until
	}
	j.warnLater(st.n.s, j.w.losses, named(st.n.l.name), owned(st.owner), slog.Int("holds", len(holds)),
		slog.Duration("held", now-since), slog.Bool("renewed", renewed), slog.Any("cause", reason(cause)))
}

// renewed tells how many leases the watchdog extended in one script, and that
// renewals work again when it was told that they fail and none does any more:
// all whose renewal failed have been renewed, released or lost.
func (j journal) renewed(r *renewal, mine []bool) {
	ctx := context.Background()
	if j.w != nil && j.w.renewals.Lasts() && r.c.dog.Failing() == 0 {
		if lasted, failures, refused := j.w.renewals.Over(); refused && j.on(ctx, slog.LevelInfo) {
			j.l.LogAttrs(ctx, slog.LevelInfo, "renewals work again", slog.Duration("lasted", lasted), slog.Int("failures", failures))
		}
	}
	if !j.on(ctx, slog.LevelDebug) {
		return
	}
	leases := 0
	for _, is := range mine {
		if is {
			leases++
		}
	}
	j.l.LogAttrs(ctx, slog.LevelDebug, "renewed", slog.Int("leases", leases), slog.Duration("lease", r.ttl))
}

// renewalFailed names, of the leases that were not extended, the one that ends
// first.
func (j journal) renewalFailed(r *renewal, err error) {
	ctx := context.Background()
	if closedPipe(err) || !j.warns() {
		return
	}
	var first *ownerState
	var left time.Duration
	for _, sub := range r.subs {
		s := sub.st.n.s
		s.lock()
		if l := sub.st.lease; l != nil {
			if rest := l.Expiry() - r.c.now(); first == nil || rest < left {
				first, left = sub.st, rest
			}
		}
		s.unlock()
	}
	if first != nil {
		j.w.renewals.Tell(ctx, slog.Int("leases", len(r.subs)),
			named(first.n.l.name), owned(first.owner), slog.Duration("trust_left", max(left, 0)), failed(err))
	}
}

// unreplicated tells of a grant that no replica acknowledged.
func (j journal) unreplicated(st *ownerState, r *pipeline.Request) {
	if j.warns() {
		j.warnLater(st.n.s, j.w.unreplicated, named(st.n.l.name), owned(st.owner), slog.Int("replicas", r.Replicas))
	}
}

// undone tells how the undo of an acquire ended that was never answered.
func (j journal) undone(st *ownerState, err error) {
	ran := err == nil
	switch {
	case !ran && !errors.Is(err, ErrNotHeld):
		if j.warns() {
			j.warnLater(st.n.s, j.w.undos, named(st.n.l.name), owned(st.owner), failed(err))
		}
	case j.on(context.Background(), slog.LevelDebug):
		j.later(st.n.s, slog.LevelDebug, "acquire undone", named(st.n.l.name), owned(st.owner), slog.Bool("ran", ran))
	}
}

// undoRepeats tells that an acquire may still arrive for as long as a lease.
func (j journal) undoRepeats(st *ownerState, lease time.Duration) {
	if j.warns() {
		j.warnLater(st.n.s, j.w.repeated, named(st.n.l.name), owned(st.owner), slog.Duration("every", undoEvery), slog.Duration("lasting", lease))
	}
}

// undecided tells of a re-entry whose outcome could not be found out.
func (j journal) undecided(st *ownerState, why string) {
	if j.warns() {
		j.warnLater(st.n.s, j.w.undecided, named(st.n.l.name), owned(st.owner), slog.String("reason", why))
	}
}

// givenBack tells what became of a grant that nobody wanted any more.
func (j journal) givenBack(st *ownerState, err error) {
	switch {
	case err != nil && !errors.Is(err, ErrNotHeld):
		if j.warns() {
			j.warnLater(st.n.s, j.w.givenBack, named(st.n.l.name), owned(st.owner), failed(err))
		}
	case j.on(context.Background(), slog.LevelDebug):
		j.later(st.n.s, slog.LevelDebug, "given back", named(st.n.l.name), owned(st.owner))
	}
}
