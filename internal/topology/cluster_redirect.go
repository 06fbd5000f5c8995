package topology

import (
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// unsettledPause delays a command whose slot is in two places, or has no server.
const unsettledPause = 20 * time.Millisecond

// Redirect follows MOVED and ASK, reconnects after NOAUTH to authenticate again, and
// repeats a command after unsettledPause for all other refusals.
func (t *Cluster) Redirect(from *Node, slot uint16, said redisconn.Refusal) Redirection {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		return Redirection{}
	}
	if said.NoAuth() {
		return Redirection{Again: true, To: from, Redial: true}
	}
	at, asks := said.Ask()
	if !asks {
		t.lookSoon()
		at, _ = said.Moved()
	}
	addr := splitPlace(at.Addr, from.String())
	if addr == "" || !asks && addr == from.String() {
		return Redirection{Again: true, After: unsettledPause}
	}
	m := t.member(addr)
	if now := time.Now(); asks {
		m.asked, m.used = now, true
	} else {
		t.recently[at.Slot], m.moved = now, now
		t.give(Range{at.Slot, at.Slot}, m.node, nil)
	}
	return Redirection{Again: true, To: m.node, Asking: asks}
}
