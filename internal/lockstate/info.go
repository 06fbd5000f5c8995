package lockstate

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/refusal"
)

// Info is what is known of a lock that is held.
type Info struct {
	Owner   Owner         // who holds it
	Count   int           // of the owner's holds
	TTL     time.Duration // codec.NoTTL: it never expires
	Waiters int           // clients that listen for its release; -1: the server does not let them be counted
	Since   time.Time     // when this client acquired the oldest of the owner's living holds; zero: it has none
}

// Holder asks who holds the lock, and who waits; false means that nobody holds it.
func (l *Lock) Holder(ctx context.Context) (Info, bool, error) {
	a, err := l.Ask(ctx, kind.Holding, Owner{})
	if err != nil || !a.Yes {
		return Info{}, false, err
	}
	i := Info{Count: int(a.N), TTL: a.TTL}
	if i.Owner, err = ParseOwner(a.Owner); err == nil {
		i.Since = l.since(i.Owner)
		i.Waiters, err = l.countListeners(ctx)
	}
	return i, err == nil, err
}

// since is when this client acquired the oldest of the owner's living holds.
func (l *Lock) since(o Owner) time.Time {
	s := l.s
	wall := time.Now()
	defer s.enter(mustNotBlock).leave()
	n := s.find(l)
	if n == nil {
		return time.Time{}
	}
	st := n.findOwnerState(o)
	if st == nil || st.holds == nil {
		return time.Time{}
	}
	first := clock.Never
	for h := st.holds; h != nil; h = h.next {
		first = min(first, h.since)
	}
	return wall.Add(first - n.now())
}

// countListeners is how many clients listen for a release. Of two kinds of channel
// it is the larger number, as with countClients.
func (l *Lock) countListeners(ctx context.Context) (int, error) {
	most := 0
	for _, channel := range l.kind.Channels(&l.names, nil) {
		most = -1
		for _, s := range l.c.top.Subscriptions(l.slot) {
			n, err := listeners(l.c.Query(ctx, l.slot, "PUBSUB", countedBy(s), channel))
			if refusal.Is(err) && !command.Unavailable(err) {
				continue // the server does not let this account count, or knows no such channels
			}
			if err != nil {
				return 0, err
			}
			most = max(most, n)
		}
	}
	return most, nil
}
