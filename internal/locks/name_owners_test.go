package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// The list is cut behind the owners at which a search may look, so a search that goes further misses its owner.
func TestOwnerOfACrowdIsFoundInAFewSteps(t *testing.T) {
	const crowd = 1000
	c := newClient(t, "redis://localhost:1", 2*time.Second)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	defer l.shard.enter(mustNotBlock).leave()
	n := l.shard.pin(&l)
	defer n.unpin()
	var states []*OwnerState
	for range crowd {
		states = append(states, n.ensureOwnerState(c.NewOwner()))
	}
	last := n.states
	for range indexFrom - 1 {
		last = last.next
	}
	rest := last.next
	last.next = nil
	for i, st := range states {
		if found := n.findOwnerState(st.Owner); found != st {
			t.Fatalf("owner %d of %d is not found", i, crowd)
		}
	}
	last.next = rest
	if n.findOwnerState(c.NewOwner()) != nil {
		t.Error("a stranger is found")
	}
	late := n.newOwnerState(c.NewOwner())
	if n.findOwnerState(late.Owner) != late {
		t.Error("one that came later is not found")
	}
	for i, st := range append(states, late) {
		if st.dropIfIdle(); n.findOwnerState(st.Owner) != nil {
			t.Errorf("owner %d is found after it was dropped", i)
		}
		if next := i + 1; next < crowd && n.findOwnerState(states[next].Owner) == nil {
			t.Errorf("owner %d is lost with the one before", next)
		}
	}
	if n.index != nil {
		t.Error("the index is left")
	}
}
