package lockstate

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/topology"
)

// An event that nobody listens to costs nothing: neither attributes nor texts are built.
func TestNoLoggerOrALevelThatIsOffCostsNoAllocation(t *testing.T) {
	c := &State{Client: core.Client{ID: uuid.New(), Config: core.Config{Watchdog: time.Minute, Timeout: time.Second, Clock: clock.System()}}}
	s := newShard(c)
	l := &Lock{c: c, s: s, Lock: c.Client.NewLock(kind.Reentrant, strings.Repeat("long", 40), "long")} // has to be cut, which allocates
	n := &name{l: l}
	te := &OwnerState{n: n, owner: c.NewOwner()}
	h := &Hold{l: l, st: te}
	w := &Waiter{n: n, l: l, tries: 1}
	holds := []*Hold{h}
	ctx, trouble := context.Background(), errors.New("trouble")
	for what, logger := range map[string]*slog.Logger{"no logger": nil, "a level that is off": slog.New(slog.DiscardHandler)} {
		c.Log = eventlog.New(logger, c.ID.String())
		if n := testing.AllocsPerRun(100, func() {
			w.logResult(ctx, h, nil)
			w.logResult(ctx, nil, nil)
			w.logResult(ctx, nil, trouble)
			h.logReleased(ctx, nil)
			h.logReleased(ctx, trouble)
			l.logReleasedAs(ctx, te.owner, nil)
			l.logReleasedAs(ctx, te.owner, trouble)
			te.logLost(holds, trouble)
			te.logUndone(te.n.l, nil)
			te.logUndone(te.n.l, trouble)
			te.logGivenBack(nil)
			te.logGivenBack(trouble)
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}

// A handler is the caller's code. It may look at the hold that a line is about, so the hold's shard must be unlocked.
func TestLinesAreToldWithoutTheShardsMutex(t *testing.T) {
	t.Parallel()
	top, err := topology.Open("redis://localhost", topology.Settings{Timeout: time.Second, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close(0)
	c := &State{Client: core.Client{ID: uuid.New(), Top: top, Config: core.Config{Clock: clock.System(), LongHold: 1}}}
	s := newShard(c)
	te := &OwnerState{n: &name{l: &Lock{c: c, s: s, Lock: c.Client.NewLock(kind.Reentrant, "orders", "orders")}}}
	free := false
	c.Log = eventlog.New(slog.New(handlerFunc(func() {
		entered := make(chan struct{})
		go func() {
			s.Enter(section.MustNotBlock).Leave()
			close(entered)
		}()
		select {
		case <-entered:
			free = true
		case <-time.After(soon):
		}
	})), c.ID.String())
	for what, tell := range map[string]func(){
		"held long":      func() { (&Hold{l: te.n.l, st: te}).tellAge() },
		"lost":           func() { te.logLost([]*Hold{{st: te}}, lockerr.ErrLeaseLost) },
		"undone":         func() { te.logUndone(te.n.l, nil) },
		"undo failed":    func() { te.logUndone(te.n.l, lockerr.ErrClosed) },
		"given back":     func() { te.logGivenBack(nil) },
		"not given back": func() { te.logGivenBack(lockerr.ErrClosed) },
	} {
		free = false
		sec := s.Enter(section.MustNotBlock)
		tell()
		sec.Leave()
		if !free {
			t.Errorf("%s: not told, or with the mutex held", what)
		}
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
