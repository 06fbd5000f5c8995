package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/outcomes"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// heard counts the events of an observer.
type heard struct {
	mu sync.Mutex
	of map[string]int
}

func (h *heard) add(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of[what]++
}

func (h *heard) count(what string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[what]
}

type parentKey struct{}

func TestObserverIsToldEachOutcomeByItsFault(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "calls run into their timeouts")
	h := heard{of: map[string]int{}}
	var waited time.Time // of the only call for "dead", used on its goroutine
	type callKey struct{}
	begin := func(ctx context.Context, s rlock.Subject) context.Context {
		if ctx.Value(parentKey{}) != "caller's" {
			t.Error("a call's context did not reach the observer")
		}
		return context.WithValue(ctx, callKey{}, s.Name)
	}
	mine := func(ctx context.Context, s rlock.Subject) {
		if ctx.Value(callKey{}) != s.Name {
			t.Errorf("an event of %s has the context of %v", s.Name, ctx.Value(callKey{}))
		}
	}
	c, end := outcomes.Make(t, context.WithValue(t.Context(), parentKey{}, "caller's"), rlock.WithObserver(rlock.Observer{
		Started: func(*rlock.Client) { h.add("started") },
		Closed:  func(*rlock.Client) { h.add("closed") },
		Acquire: begin, Release: begin,
		Waiting: func(ctx context.Context, s rlock.Subject, at time.Time) {
			mine(ctx, s)
			h.add("waiting")
			if s.Name == "dead" {
				waited = at
			}
		},
		Woken: func(ctx context.Context, s rlock.Subject, e rlock.WakeEvent) {
			mine(ctx, s)
			h.add("wakeups " + string(e.Source))
			// The other client's lease ends in a second. All events of a call come when it ends.
			const early = time.Second / 2
			if took := e.At.Sub(waited); s.Name == "dead" && (e.Source == "expiry") != (took > early) {
				t.Errorf("a call that waits since %v is said to have been woken at %v by %s", waited, e.At, e.Source)
			}
		},
		Acquired: func(ctx context.Context, s rlock.Subject, e rlock.AcquireEvent) {
			mine(ctx, s)
			h.add("acquires " + string(e.Outcome))
			h.add(fmt.Sprint("acquire.duration ", e.Contended))
			h.add(fmt.Sprint("acquires ", e.Contended))
			if e.Outcome == "acquired" && (s.Owner() == "" || e.Err != nil || e.Attempts == 0) || e.Outcome != "acquired" && e.Err == nil {
				t.Errorf("%s of %q: %+v", s.Name, s.Owner(), e)
			}
			if e.Contended && slices.Contains([]string{"free", "text", "unsure", "undone"}, s.Name) || !e.Contended && slices.Contains([]string{"busy", "dead"}, s.Name) {
				t.Errorf("%s: contended is %v", s.Name, e.Contended)
			}
		},
		Released: func(ctx context.Context, s rlock.Subject, e rlock.ReleaseEvent) {
			mine(ctx, s)
			h.add("release")
			if s.Name == "gone" {
				h.add("gone")
			}
			if slices.Contains([]string{"gone", "fixed", "cut"}, s.Name) != (e.Reason != "" && !e.LostAt.IsZero()) {
				t.Errorf("release of %s: %+v", s.Name, e)
			}
		},
		Ended: func(s rlock.Subject, e rlock.HoldEvent) {
			h.add("hold.duration " + string(e.End))
			h.add("leases.lost " + string(e.Reason))
			if e.Held <= 0 || s.Kind != "lock" || s.Owner() == "" {
				t.Errorf("%+v of %+v", e, s)
			}
		},
		Failing: func(_ rlock.Subject, e rlock.FailingEvent) {
			if e.Err != nil {
				h.add("leases.failing begun")
			} else {
				h.add("leases.failing ended")
			}
		},
		Renewed:     func(_ rlock.Subject, e rlock.RenewalEvent) { h.add("renewals " + string(e.Outcome)) },
		Undone:      func(_ rlock.Subject, e rlock.UndoEvent) { h.add("undos " + string(e.Outcome)) },
		Reconnected: func(rlock.ServerEvent) { h.add("reconnected") },
		Command: func(ctx context.Context, e rlock.CommandEvent) {
			if e.Duration < 0 || e.Server == "" || e.Start.IsZero() || (e.Script != "") != (e.Name == "EVALSHA") || e.Database != "0" || e.Undo && !strings.HasPrefix(e.Script, "unlock") || e.Leases > 0 && e.Script != "renew" {
				t.Errorf("%+v", e)
			}
			h.add("command " + e.Name)
			if ctx.Value(callKey{}) != nil {
				h.add("command of a call")
			}
			if e.Leases > 0 {
				h.add("command of a renewal")
			}
			if e.Undo {
				h.add("command of an undo")
			}
		},
	}))
	now := c.Stats()
	if now.Holds != 1 || now.Waiters != 1 || now.LeastRemaining <= 0 || now.LeastRemaining > 2*time.Second || now.Kinds["lock"] != now.KindStats {
		t.Errorf("%+v", now)
	}
	end()
	stats := c.Stats()
	want := []string{"started", "closed", "waiting", "release", "reconnected", "command EVALSHA", "command of a call", "command of a renewal", "command of an undo"}
	outcomes.Told(t, func(metric, _, _, word string) bool { return h.count(metric+" "+word) > 0 })
	for _, what := range want {
		if h.count(what) == 0 {
			t.Errorf("not told: %s", what)
		}
	}
	t.Logf("told: %v", h.of)
	for what, is := range map[string]int64{
		"acquires acquired": stats.Acquired, "acquires locked": stats.Locked, "acquires timeout": stats.TimedOut,
		"acquires cancelled": stats.Cancelled, "acquires uncertain": stats.Uncertain, "acquires error": stats.Failed,
		"undos undone": stats.Undone,
	} {
		if int64(h.count(what)) != is {
			t.Errorf("%s: told %d times, %d in Stats", what, h.count(what), is)
		}
	}
	if lost := h.count("leases.lost taken") + h.count("leases.lost expired") + h.count("leases.lost unreachable"); stats.Lost != int64(lost) || lost != 3+h.count("gone") {
		t.Errorf("told of %d lost holds, Stats has %d, and 3 were beside %d that a renewal was to find gone", lost, stats.Lost, h.count("gone"))
	}
	if stats.Holds != 0 || stats.Waiters != 0 || stats.LeastRemaining != rlock.NoExpiry || stats.Reconnects == 0 || stats.Renewals == 0 {
		t.Errorf("once closed: %+v", stats)
	}
}

// moves keeps the events of NodeChanged.
type moves struct {
	mu  sync.Mutex // guards all
	all []rlock.ServerEvent
}

func (m *moves) observer() rlock.Option {
	return rlock.WithObserver(rlock.Observer{NodeChanged: func(e rlock.ServerEvent) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.all = append(m.all, e)
	}})
}

// told waits for a move. All events so far must be of this move.
func (m *moves) told(t *testing.T, from, to *redistest.Server) {
	t.Helper()
	is := func() []rlock.ServerEvent {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.all
	}
	becomes(t, "a change of servers is told", func() bool { return len(is()) > 0 })
	if all := is(); slices.ContainsFunc(all, func(e rlock.ServerEvent) bool { return e.From != from.Addr() || e.To != to.Addr() }) {
		t.Errorf("told %+v, want from %s to %s", all, from.Addr(), to.Addr())
	}
}

func TestObserverIsToldOfAnotherServer(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	beside.Run(t, "failover behind Sentinels", func(t *testing.T) {
		set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		var m moves
		c := openWith(t, set.URL(), m.observer())
		held(t, c.NewLock("x"))
		former := set.Master()
		set.Failover(set.Sentinels[0])
		m.told(t, former, set.AwaitMaster(former))
	})
	beside.Run(t, "failover in a cluster", func(t *testing.T) {
		s := topologytest.StartReplicated(t, 1, 1)
		var m moves
		held(t, openCluster(t, s, m.observer()).NewLock(nameOf(0, 0)))
		s.Failover(s.Replica(0))
		m.told(t, s.Servers[0], s.Servers[s.Replica(0)])
	})
	beside.Run(t, "slot moved", func(t *testing.T) {
		s := topologytest.StartReplicated(t, 1, 1)
		var m moves
		c, name := openCluster(t, s, m.observer()), nameOf(0, 0)
		h := held(t, c.NewLock(name))
		s.Move(0, 1, codec.Slot(name))
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		m.told(t, s.Servers[0], s.Servers[1])
	})
}

// Events that a blocked observer's queue has no room for are dropped and counted. Close waits for the observer no longer
// than a command timeout.
func TestStillObserverLosesEventsAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	still := make(chan struct{})
	defer close(still)
	c := openWith(t, redistest.Start(t).URL(), rlock.WithCommandTimeout(2*time.Second), rlock.WithObserver(rlock.Observer{
		Command: func(context.Context, rlock.CommandEvent) { <-still },
	}))
	const room, calls = 4096, 2*4096 + 100 // with the first event, the client may have taken out a full queue before it blocked
	for range calls {
		if _, err := c.NewLock("x").IsLocked(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Stats().Unobserved; n < calls-2*room || n > calls-room {
		t.Errorf("%d events were dropped", n)
	}
	began := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestStatsTellWhoWaitsByKind(t *testing.T) {
	t.Parallel()
	c := openWith(t, redistest.Start(t).URL())
	if got := new(rlock.Client).Stats(); got.Kinds == nil || got.LeastRemaining != rlock.NoExpiry {
		t.Errorf("of a zero Client: %+v", got)
	}
	h := held(t, c.NewFencedLock("x"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 3)
	for range 3 {
		go func() { _, err := c.NewFencedLock("x").Lock(ctx); done <- err }()
	}
	becomes(t, "three wait", func() bool { return c.Stats().Kinds["fenced"].Waiters == 3 })
	if got := c.Stats(); got.Holds != 1 || got.Kinds["fenced"].Holds != 1 || len(got.Kinds) != 1 || got.LeastRemaining > 30*time.Second {
		t.Errorf("%+v", got)
	}
	cancel()
	for range 3 {
		<-done
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if got := c.Stats(); got.Waiters != 0 || got.Holds != 0 || got.Cancelled != 3 {
		t.Errorf("%+v", got)
	}
}

// Whatever a call waits for, it is counted while it waits.
func TestStatsCountWaitersOfEachKind(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	c, other := openWith(t, url), openWith(t, url)
	locks := func(c *rlock.Client) map[string]*rlock.Lock {
		return map[string]*rlock.Lock{
			"lock": c.NewLock("lock"), "fair": c.NewFairLock("fair"), "fenced": c.NewFencedLock("fenced"), "spin": c.NewSpinLock("spin"),
			"nonreentrant": c.NewNonReentrantLock("nonreentrant"), "read": c.NewReadWriteLock("a").ReadLock(), "write": c.NewReadWriteLock("b").WriteLock(),
		}
	}
	waits := map[string]func(ctx context.Context) error{
		"semaphore": func(ctx context.Context) error { return c.NewSemaphore("semaphore").Acquire(ctx, 1) },
		"permits":   func(ctx context.Context) error { _, err := c.NewPermitSemaphore("permits").Acquire(ctx, 1); return err },
		"latch":     func(ctx context.Context) error { return c.NewCountDownLatch("latch").Await(ctx) },
	}
	if _, err := other.NewCountDownLatch("latch").TrySetCount(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for kind, l := range locks(other) {
		if kind == "read" { // a writer excludes it
			l = other.NewReadWriteLock("a").WriteLock()
		}
		held(t, l)
	}
	for kind, l := range locks(c) {
		waits[kind] = func(ctx context.Context) error { _, err := l.Lock(ctx); return err }
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, len(waits))
	for _, wait := range waits {
		go func() { ended <- wait(ctx) }()
	}
	for kind := range waits {
		becomes(t, "one waits for "+kind, func() bool { return c.Stats().Kinds[rlock.Kind(kind)].Waiters == 1 })
	}
	cancel()
	for range waits {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if got := c.Stats(); got.Waiters != 0 || got.Cancelled != int64(len(waits)) {
		t.Errorf("%+v", got)
	}
}
