package eventlog

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// owner counts how often its text is built.
type owner struct{ asked int }

func (o *owner) String() string {
	o.asked++
	return "someone"
}

// later keeps the functions that it is to call later.
type later struct{ fns []func() }

func (l *later) After(fn func()) { l.fns = append(l.fns, fn) }

// inside returns all events that are reported with a lock held.
func inside(e *Log, out Outside, l Lock) map[string]func() {
	trouble := errors.New("trouble")
	return map[string]func(){
		"queued":         func() { e.Queued(out, l, 1) },
		"waiting":        func() { e.Waiting(out, l, time.Second) },
		"lost":           func() { e.Lost(out, l, "localhost:6379", 1, time.Second, true, trouble) },
		"held long":      func() { e.HeldLong(out, l, time.Hour, true) },
		"unreplicated":   func() { e.Unreplicated(out, l, 1, trouble) },
		"undone":         func() { e.Undone(out, l, true) },
		"undo failed":    func() { e.UndoFailed(out, l, trouble) },
		"undo repeats":   func() { e.UndoRepeats(out, l, time.Second, time.Minute) },
		"undecided":      func() { e.Undecided(out, l, "why") },
		"acted as":       func() { e.ActedAs(out, l) },
		"given back":     func() { e.GivenBack(out, l) },
		"not given back": func() { e.NotGivenBack(out, l, trouble) },
	}
}

// An event that nobody listens to costs nothing: neither attributes nor texts are built.
func TestNoLoggerOrALevelThatIsOffCostsNoAllocation(t *testing.T) {
	ctx, trouble := context.Background(), errors.New("trouble")
	o, out, extended, failing := new(owner), new(later), []bool{true}, func() int { return 0 }
	l := Lock{Name: strings.Repeat("long", 40), Owner: o} // is cut in a log line, which allocates
	for what, logger := range map[string]*slog.Logger{"no logger": nil, "a level that is off": slog.New(slog.DiscardHandler)} {
		e := New(logger, "client")
		told := inside(e, out, l)
		if n := testing.AllocsPerRun(100, func() {
			for _, tell := range told {
				tell()
			}
			e.Started("localhost:6379", time.Minute, time.Second, true)
			e.Draining(1)
			e.Closed(1, 1)
			e.NotAcquired(ctx, l, time.Second, trouble)
			e.Acquired(ctx, l, time.Second, 1, time.Minute, true)
			e.LetThrough(ctx, l, time.Second, 1)
			e.Released(ctx, l, time.Second)
			e.ReleasedAs(ctx, l)
			e.Unreleased(ctx, l, true, trouble)
			e.Extended(ctx, l, time.Second)
			e.Forced(ctx, l, true)
			e.Renewed(extended, time.Minute, failing)
			e.RenewalFailed(1, l, time.Second, trouble)
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
		if o.asked > 0 || len(out.fns) > 0 {
			t.Errorf("%s: %d texts were asked for, %d lines put off", what, o.asked, len(out.fns))
		}
		e.End()
	}
}

// A handler is the caller's code, and must not run with a lock of the library held.
func TestWhatIsToldInsideIsWrittenOutside(t *testing.T) {
	lines := 0
	e := New(slog.New(handlerFunc(func() { lines++ })), "client")
	defer e.End()
	out := new(later)
	for what, tell := range inside(e, out, Lock{Name: "orders", Owner: new(owner)}) {
		lines, out.fns = 0, nil
		if tell(); lines != 0 || len(out.fns) != 1 {
			t.Errorf("%s: %d lines inside, %d put off", what, lines, len(out.fns))
			continue
		}
		if out.fns[0](); lines != 1 {
			t.Errorf("%s: not told", what)
		}
	}
}

// handlerFunc is a handler that calls a function for each line.
type handlerFunc func()

func (handlerFunc) Enabled(context.Context, slog.Level) bool    { return true }
func (f handlerFunc) Handle(context.Context, slog.Record) error { f(); return nil }
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f handlerFunc) WithGroup(string) slog.Handler             { return f }
