package lockstate

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/section"
)

// A look is in no command queue. After it found no key, a nested acquire of its owner could have made the key again.
func TestNoOfALookCountsIfItsOwnerHadNoCommandMeanwhile(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1") // its watchdog does nothing for 20 s
	begins := func(h *Hold) { h.st.run(operationFunc(h.st.done)) }
	renewed := func(h *Hold) { h.st.beginRenewal(); h.st.endRenewal() }
	for name, row := range map[string]struct {
		meanwhile func(*Hold)
		lost      bool
	}{
		"nothing":             {func(*Hold) {}, true},
		"a command":           {begins, false},
		"a renewal":           {renewed, false},
		"another acquisition": {func(h *Hold) { h.st.lease = h.st.n.l.c.watchdog.Register(h.st) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.NewLock(kind.Reentrant, name, name)
			h := granted(t, &l)
			lease := h.st.lease
			if _, ready := h.st.Begin(lease, true); !ready {
				t.Fatal("nobody may look")
			}
			sec := l.s.Enter(section.MustNotBlock)
			row.meanwhile(h)
			sec.Leave()
			h.st.NotHeld(lease, &l.Lock)
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
	sec := l.s.Enter(section.MustNotBlock)
	h.st.busy = true
	sec.Leave()
	if _, ready := h.st.Begin(h.st.lease, true); ready {
		t.Error("a look is sent")
	}
	sec = l.s.Enter(section.MustNotBlock)
	h.st.busy = false
	sec.Leave()
}

// granted is a hold of l, as if the server had granted it.
func granted(t *testing.T, l *Lock) *Hold {
	t.Helper()
	defer l.s.Enter(section.MustNotBlock).Leave()
	n := l.s.pin(l)
	st := n.newOwnerState(l.c.NewOwner())
	st.register()
	h, ok := st.grant(l, &Terms{}, n.now(), l.c.Watchdog)
	if !ok {
		t.Fatal("it is not trusted")
	}
	return h
}
