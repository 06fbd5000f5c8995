package locks

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
)

// A look is in no command queue. After it found no key, a nested acquire of its owner could have made the key again.
func TestNoOfALookCountsIfItsOwnerHadNoCommandMeanwhile(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1", 2*time.Second) // its watchdog does nothing for 20 s
	begins := func(h *Hold) { h.state.run(operationFunc(h.state.done)) }
	renewed := func(h *Hold) {
		h.lock.shard.without(func() { h.state.begin(h.state.lease, false); h.state.endRenewal(0) })
	}
	for name, row := range map[string]struct {
		meanwhile func(*Hold)
		lost      bool
	}{
		"nothing":             {func(*Hold) {}, true},
		"a command":           {begins, false},
		"a renewal":           {renewed, false},
		"another acquisition": {func(h *Hold) { h.state.lease = h.state.name.lock.Client.renewer.Register(h.state) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.NewLock(kind.Reentrant, name, name)
			h := granted(t, &l)
			lease := h.state.lease
			if _, ready := h.state.begin(lease, true); !ready {
				t.Fatal("nobody may look")
			}
			sec := l.shard.enter(mustNotBlock)
			row.meanwhile(h)
			sec.leave()
			h.state.notHeld(lease, &l)
			if err := h.Err(); errors.Is(err, ErrLeaseLost) != row.lost {
				t.Error(err)
			}
			if left := time.Until(h.ValidUntil()); row.lost == (left > 0) {
				t.Errorf("it is valid for %v", left)
			}
		})
	}
}

// While a command of the owner is under way, no look is sent.
func TestNobodyLooksWhileACommandIsUnderWay(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1", 2*time.Second)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := granted(t, &l)
	sec := l.shard.enter(mustNotBlock)
	h.state.busy = true
	sec.leave()
	if _, ready := h.state.begin(h.state.lease, true); ready {
		t.Error("a look is sent")
	}
	sec = l.shard.enter(mustNotBlock)
	h.state.busy = false
	sec.leave()
}

// A renewal's failure that comes late says nothing about the owner's next hold, and nothing after the last one.
func TestOnlyTheFailureOfTheHeldLeaseIsTold(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		meanwhile func(*Hold)
		err       error
		told      int
	}{
		"nothing":             {func(*Hold) {}, ErrUnavailable, 1},
		"a loss":              {func(h *Hold) { h.state.lose(nil, errVanished) }, ErrUnavailable, 0},
		"another acquisition": {func(h *Hold) { h.state.lease = h.state.name.lock.Client.renewer.Register(h.state) }, ErrUnavailable, 0},
		"Close":               {func(*Hold) {}, command.Unsent(pipeline.ErrClosed), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, "redis://localhost:1", 2*time.Second)
			log := &strings.Builder{} // written by this goroutine, when a section ends
			c.Log = eventlog.New(slog.New(slog.NewTextHandler(log, nil)), "test")
			l := c.NewLock(kind.Reentrant, "orders", "orders")
			h := granted(t, &l)
			lease := h.state.lease
			sec := l.shard.enter(mustNotBlock)
			row.meanwhile(h)
			sec.leave()
			h.state.failing(lease, row.err)
			if n := strings.Count(log.String(), "lease not renewed"); n != row.told {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// granted is a hold of l, as if the server had granted it.
func granted(t *testing.T, l *Lock) *Hold {
	t.Helper()
	defer l.shard.enter(mustNotBlock).leave()
	n := l.shard.pin(l)
	st := n.newOwnerState(l.Client.NewOwner())
	st.register()
	h, ok := st.grant(l, &Terms{}, n.Now(), l.Client.Watchdog)
	if !ok {
		t.Fatal("it is not trusted")
	}
	return h
}
