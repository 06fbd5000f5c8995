package lockstate

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/watchdog"
)

// A look is in no command queue. A nested acquire could have run behind it, and have made the key anew that it missed.
func TestNoOfALookCountsIfItsOwnerHadNoCommandMeanwhile(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Watchdog = time.Minute // nothing is renewed or looked at but here
	c := openWith(t, s, o)
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
			h := acquire(t, &l)
			sub := renewee{st: h.st, lease: h.st.lease, l: &l}
			sec := l.s.enter(mustNotBlock)
			h.st.calm = true
			row.meanwhile(h)
			sec.leave()
			(&look{lookOver(c, sub, func(_ int, a watchdog.Answer) {
				if a.Read {
					t.Error("it counts as read")
				}
			})}).end([]bool{false}, true)
			if err := h.Err(); errors.Is(err, lockerr.ErrLeaseLost) != row.lost {
				t.Error(err)
			}
			if left := time.Until(h.ValidUntil()); row.lost == (left > 0) {
				t.Errorf("it is valid for %v", left)
			}
		})
	}
}

// lookOver is a look of a node's part that nothing else is of, with what ends it.
func lookOver(c *State, sub renewee, answer answerFunc) leaseScript {
	c.Work.Add()
	n := &nodePart{c: c, node: c.Top.Nodes()[0], looks: true, answer: answer}
	n.open.Add(2)
	return leaseScript{nodePart: n, subs: []renewee{sub}}
}

// While a command of the owner is under way, no look is sent.
func TestNobodyLooksWhileACommandIsUnderWay(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	o := config()
	o.Watchdog = time.Minute
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	sec := l.s.enter(mustNotBlock)
	h.st.busy = true
	sec.leave()
	answered := false
	answer := func(_ int, a watchdog.Answer) { answered = !a.Read }
	looks := c.cut([]*watchdog.Lease{h.st.lease}, true, answer)[0].scripts()
	if len(looks) > 0 || !answered {
		t.Errorf("%d looks; answered: %v", len(looks), answered)
	}
	sec = l.s.enter(mustNotBlock)
	h.st.busy = false
	sec.leave()
}
