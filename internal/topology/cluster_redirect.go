package topology

import (
	"time"

	"github.com/rlock-go/redisson/internal/refusal"
)

// unsettledPause is that of a command whose slot is in two places, or nobody's.
const unsettledPause = 20 * time.Millisecond

// Redirect follows MOVED and ASK, and waits out the rest.
func (t *Cluster) Redirect(from *Node, slot uint16, said refusal.Refusal) Redirection {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return Redirection{}
	}
	wait := Redirection{Again: true, After: unsettledPause}
	if at, ok := said.Moved(); ok {
		t.lookSoon()
		addr := splitPlace(at.Addr, from.String())
		if addr == "" || addr == from.String() {
			return wait
		}
		m := t.member(addr)
		t.recently[at.Slot] = moved{m.node, time.Now()}
		t.give(Range{at.Slot, at.Slot}, m)
		return Redirection{Again: true, To: m.node}
	}
	if at, ok := said.Ask(); ok {
		addr := splitPlace(at.Addr, from.String())
		if addr == "" {
			return wait
		}
		m := t.member(addr)
		m.asked, m.used = time.Now(), true
		return Redirection{Again: true, To: m.node, Asking: true}
	}
	t.lookSoon()
	return wait
}
