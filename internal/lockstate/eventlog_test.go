package lockstate

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// What nobody listens to costs nothing: neither attributes nor texts are built.
func TestNoLoggerOrALevelThatIsOffCostsNoAllocation(t *testing.T) {
	c := &State{id: uuid.New(), o: Config{Watchdog: time.Minute, Timeout: time.Second, Clock: clock.System()}}
	l := &Lock{c: c, kind: kind.Reentrant, traits: kind.Reentrant.Traits(), name: strings.Repeat("long", 40)} // has to be cut, which allocates
	s := newShard(c)
	n := &name{s: s, l: l}
	n.queues = &waitQueue{shard: s, n: n, l: l}
	te := &OwnerState{n: n, owner: c.NewOwner()}
	h := &Hold{l: l, st: te}
	w := &Waiter{n: n, l: l, tries: 1}
	holds := []*Hold{h}
	r := &renewal{c: c, ttl: time.Minute, subs: []renewee{{st: te}}}
	mine := []bool{true}
	q := new(command.Request)
	ctx, trouble := context.Background(), errors.New("trouble")
	off := slog.New(slog.DiscardHandler)
	for what, e := range map[string]eventLog{"no logger": newEventLog(nil, c), "a level that is off": newEventLog(off, c)} {
		if n := testing.AllocsPerRun(100, func() {
			e.started(c, "localhost:6379")
			e.draining(1)
			e.closed(1, 1)
			e.queued(w)
			e.waiting(w, time.Second)
			e.entered(ctx, w, h, nil)
			e.entered(ctx, w, nil, trouble)
			e.released(ctx, h, nil)
			e.released(ctx, h, trouble)
			e.releasedAs(ctx, l, te.owner, nil)
			e.extended(ctx, h, time.Second)
			e.forced(ctx, l, true)
			e.lost(te, holds, trouble)
			e.renewed(r, mine)
			e.renewalFailed(r, trouble)
			e.unreplicated(te, q)
			e.undone(te, nil)
			e.undone(te, trouble)
			e.undoRepeats(te, time.Second)
			e.undecided(te, "why")
			e.givenBack(te, nil)
			e.givenBack(te, trouble)
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
		if len(s.sec.outside) > 0 {
			t.Errorf("%s: something was put off to be told", what)
		}
	}
}

// A handler is the caller's code; one that looks at the hold it is told of must not meet its own shard's mutex.
func TestLinesAreToldWithoutTheShardsMutex(t *testing.T) {
	c := &State{id: uuid.New(), o: Config{Clock: clock.System()}}
	s := newShard(c)
	te := &OwnerState{n: &name{s: s, l: &Lock{c: c, name: "orders"}}}
	free := false
	e := newEventLog(slog.New(handlerFunc(func() {
		if free = s.mu.TryLock(); free {
			s.mu.Unlock()
		}
	})), c)
	for what, tell := range map[string]func(){
		"lost":           func() { e.lost(te, []*Hold{{st: te}}, ErrLeaseLost) },
		"undone":         func() { e.undone(te, nil) },
		"undo failed":    func() { e.undone(te, ErrClosed) },
		"undo repeats":   func() { e.undoRepeats(te, time.Second) },
		"undecided":      func() { e.undecided(te, "why") },
		"given back":     func() { e.givenBack(te, nil) },
		"not given back": func() { e.givenBack(te, ErrClosed) },
		"unreplicated":   func() { e.unreplicated(te, new(command.Request)) },
		"waiting":        func() { e.waiting(&Waiter{n: te.n}, time.Second) },
	} {
		free = false
		sec := s.enter(mustNotBlock)
		tell()
		sec.leave()
		if !free {
			t.Errorf("%s: not told, or with the mutex held", what)
		}
	}
}

// Of many leases the one that ends first is what matters.
func TestFailedRenewalNamesTheLeaseThatEndsFirst(t *testing.T) {
	c := &State{id: uuid.New(), o: Config{Clock: clock.System()}}
	dog := watchdog.New(func([]*watchdog.Lease, func(int, watchdog.Answer)) {}, watchdog.Options{Clock: c.o.Clock})
	defer dog.Close()
	r := &renewal{c: c}
	for lock, left := range map[string]time.Duration{"late": 3 * time.Hour, "early": time.Hour, "later": 2 * time.Hour} {
		te := &OwnerState{owner: Owner{thread: int64(left)}, n: &name{s: newShard(c), l: &Lock{c: c, name: lock}}}
		te.lease = dog.Register(te)
		te.lease.Live(c.now()+left, watchdog.Never, watchdog.Never)
		r.subs = append(r.subs, renewee{i: len(r.subs), st: te})
	}
	var text bytes.Buffer
	newEventLog(slog.New(slog.NewTextHandler(&text, nil)), c).renewalFailed(r, errors.New("trouble"))
	if line := text.String(); !strings.Contains(line, "leases=3 lock=early owner="+Owner{thread: int64(time.Hour)}.String()+" trust_left=59m59.") {
		t.Error(line)
	}
}

func newShard(c *State) *shard {
	s := new(shard)
	s.init(c)
	return s
}

// handlerFunc is a handler that calls a function for each line.
type handlerFunc func()

func (handlerFunc) Enabled(context.Context, slog.Level) bool    { return true }
func (f handlerFunc) Handle(context.Context, slog.Record) error { f(); return nil }
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f handlerFunc) WithGroup(string) slog.Handler             { return f }
