package state

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/section"
)

// A look is in no command queue. After it found no key, a nested acquire of its owner could have made the key again.
func TestNoOfALookCountsIfItsOwnerHadNoCommandMeanwhile(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1") // its watchdog does nothing for 20 s
	begins := func(h *Hold) { h.State.Run(operationFunc(h.State.Done)) }
	renewed := func(h *Hold) { h.State.beginRenewal(); h.State.endRenewal() }
	for name, row := range map[string]struct {
		meanwhile func(*Hold)
		lost      bool
	}{
		"nothing":             {func(*Hold) {}, true},
		"a command":           {begins, false},
		"a renewal":           {renewed, false},
		"another acquisition": {func(h *Hold) { h.State.Lease = h.State.Name.Lock.Client.Renewer.Register(h.State) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.NewLock(kind.Reentrant, name, name)
			h := granted(t, &l)
			lease := h.State.Lease
			if _, ready := h.State.Begin(lease, true); !ready {
				t.Fatal("nobody may look")
			}
			sec := l.Shard.Enter(section.MustNotBlock)
			row.meanwhile(h)
			sec.Leave()
			h.State.NotHeld(lease, &l.Lock)
			if err := h.Err(); errors.Is(err, lockerr.ErrLeaseLost) != row.lost {
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
	c := newClient(t, "redis://localhost:1")
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := granted(t, &l)
	sec := l.Shard.Enter(section.MustNotBlock)
	h.State.Busy = true
	sec.Leave()
	if _, ready := h.State.Begin(h.State.Lease, true); ready {
		t.Error("a look is sent")
	}
	sec = l.Shard.Enter(section.MustNotBlock)
	h.State.Busy = false
	sec.Leave()
}

// A renewal's failure that comes late says nothing about the owner's next hold, and nothing after the last one.
func TestOnlyTheFailureOfTheHeldLeaseIsTold(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		meanwhile func(*Hold)
		err       error
		told      int
	}{
		"nothing":             {func(*Hold) {}, lockerr.ErrUnavailable, 1},
		"a loss":              {func(h *Hold) { h.State.Lose(nil, ErrVanished) }, lockerr.ErrUnavailable, 0},
		"another acquisition": {func(h *Hold) { h.State.Lease = h.State.Name.Lock.Client.Renewer.Register(h.State) }, lockerr.ErrUnavailable, 0},
		"Close":               {func(*Hold) {}, command.Unsent(pipeline.ErrClosed), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, "redis://localhost:1")
			log := &strings.Builder{} // written by this goroutine, when a section ends
			c.Log = eventlog.New(slog.New(slog.NewTextHandler(log, nil)), "test")
			l := c.NewLock(kind.Reentrant, "orders", "orders")
			h := granted(t, &l)
			lease := h.State.Lease
			sec := l.Shard.Enter(section.MustNotBlock)
			row.meanwhile(h)
			sec.Leave()
			h.State.Failing(lease, row.err)
			if n := strings.Count(log.String(), "lease not renewed"); n != row.told {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// granted is a hold of l, as if the server had granted it.
func granted(t *testing.T, l *Lock) *Hold {
	t.Helper()
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	n := l.Shard.Pin(l)
	st := n.NewOwnerState(l.Client.NewOwner())
	st.Register()
	h, ok := st.Grant(l, &Terms{}, n.Now(), l.Client.Watchdog)
	if !ok {
		t.Fatal("it is not trusted")
	}
	return h
}
