package locks

import (
	"context"
	"errors"
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// gate is a kind that is open while its key does not exist. Nobody holds it.
type gate struct{ kind.Kind }

var gateKind kind.Kind = gate{kind.Reentrant}

var gateTraits = kind.Traits{Family: "gate", Gate: true, KeyType: "string"}

var gateAsk = script("gate", `
	if redis.call('exists', KEYS[1]) == 0 then return nil end
	return -1`)

func (gate) Traits() *kind.Traits { return &gateTraits }

func (gate) Names(key string) kind.Names { return kind.Names{key, key + ":gate"} }

func (gate) Acquire(_ []any, w *kind.Want) kind.Call {
	call := run(gateAsk, kind.Never, w.Names[:1])
	call.Writes = false
	return call
}

func TestOneGrantLetsAllThrough(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	do(t, conn, "SET", "g", 1)
	a, b := open(t, s), open(t, s)
	la, lb := a.NewLock(gateKind, "g", "g"), b.NewLock(gateKind, "g", "g")
	ended := make(chan outcome, 20)
	for i := range 20 {
		wait(t.Context(), t, []*Lock{&la, &lb}[i%2], i, ended, Terms{})
	}
	for _, l := range []*Lock{&la, &lb} {
		redistest.Becomes(t, "they wait", func() bool { return l.Snapshot().Listening && !l.Snapshot().InFlight })
	}
	none(t, ended)
	tap := monitor.Tap(t, s.URL())
	do(t, conn, "DEL", "g")
	do(t, conn, "PUBLISH", "g:gate", "0")
	for range 20 {
		if o := next(t, ended); o.hold != nil {
			t.Error("it is held")
		}
	}
	if n := asked(tap.Mark(), gateAsk); n != 2 {
		t.Errorf("%d tries of two clients", n)
	}
	for _, l := range []*Lock{&la, &lb} {
		redistest.Becomes(t, "nothing is left of the name", func() bool { return !l.Snapshot().Known })
	}
}

func TestLostTryAtAGateIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, d := openDropping(t, s)
	l := c.NewLock(gateKind, "g", "g")
	ended := make(chan outcome, 1)
	do(t, s.Dial(t), "SCRIPT", "LOAD", gateAsk.Source)
	tap := monitor.Tap(t, s.URL())
	d.drop(gateAsk.SHA1)
	wait(t.Context(), t, &l, 0, ended, Terms{})
	next(t, ended)
	if d.lost.Load() != 1 {
		t.Error("nothing was lost")
	}
	lines := tap.Mark()
	if n := asked(lines, gateAsk); n != 2 {
		t.Errorf("%d tries", n)
	}
	for _, l := range lines {
		if l.Is("EVALSHA") && l.Args[1] != gateAsk.SHA1 {
			t.Errorf("what nobody holds was given back by %v", l)
		}
	}
}

func TestCancelledWaitAtAGate(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	do(t, s.Dial(t), "SET", "g", 1)
	c := open(t, s)
	l := c.NewLock(gateKind, "g", "g")
	ended := make(chan outcome, 1)
	ctx, cancel := context.WithCancel(t.Context())
	wait(ctx, t, &l, 0, ended, Terms{})
	cancel()
	if o := <-ended; !errors.Is(o.err, context.Canceled) {
		t.Error(o.err)
	}
}
