package locks

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// info is what is known of a lock that is held.
type info struct {
	Owner   Owner         // who holds it
	Count   int           // of the owner's holds
	TTL     time.Duration // luasrc.NoTTL: it never expires
	Waiters int           // clients that listen for its release; -1: the server does not let them be counted
	Since   time.Time     // when this client acquired the oldest of the owner's living holds; zero: it has none
}

// Holder asks who holds the lock, and who waits; false means that nobody holds it.
func (l *Lock) Holder(ctx context.Context) (info, bool, error) {
	a, err := l.Ask(ctx, kind.Holding, Owner{})
	if err != nil || !a.Yes {
		return info{}, false, err
	}
	i := info{Count: int(a.N), TTL: a.TTL}
	if i.Owner, err = readOwner(a.Owner); err == nil {
		i.Since = l.since(i.Owner)
		i.Waiters, err = l.countListeners(ctx)
	}
	return i, err == nil, err
}

// since is when this client acquired the oldest of the owner's living holds.
func (l *Lock) since(o Owner) time.Time {
	defer l.shard.enter(mustNotBlock).leave()
	st := l.ownerState(o)
	if st == nil || st.holds == nil {
		return time.Time{}
	}
	first := clock.Never
	for h := st.holds; h != nil; h = h.next {
		first = min(first, h.since)
	}
	wall := time.Now()
	return wall.Add(first - st.name.Now())
}
