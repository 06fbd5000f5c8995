package lockstate

import (
	"context"

	"github.com/rlock-go/redisson/internal/change"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// Change is change.Do. A release is remembered for a failover.
func (l *Lock) Change(ctx context.Context, due bool, call func(*kind.Want) kind.Call) (any, error) {
	var keep func(*command.Request, any)
	if due && l.c.FailsOver {
		keep = l.rememberChange
	}
	return change.Do(ctx, &l.Lock, due, call, keep)
}

// held is what an owner holds by l's kind.
func (l *Lock) held(st *OwnerState) kind.Held {
	return kind.Held{Kind: l.Kind, Names: &l.Names, Owner: st}
}

// AnyHeld tells whether a living hold of the name in this client is such a one.
func (l *Lock) AnyHeld(such func(kind.Held) bool) bool {
	defer l.s.enter(mustNotBlock).leave()
	n := l.s.find(l)
	if n == nil {
		return false
	}
	for st := n.states; st != nil; st = st.next {
		if st.find(func(h *Hold) bool { return such(h.l.held(st)) }) != nil {
			return true
		}
	}
	return false
}

// Of is the same object's lock of another kind.
func (l *Lock) Of(k kind.Kind) Lock {
	of := *l
	of.Kind = k
	return of
}
