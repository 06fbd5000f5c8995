package locks

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// Lock is a lock of one client. It never changes: the state of the lock is in its shard.
type Lock struct {
	ObjectLock
	Client *Client
	shard  *shard // the key's
}

// NewLock makes a lock of a kind from its name and the key that the name is mapped to.
func (c *Client) NewLock(k kind.Kind, name, key string) Lock {
	l := c.newLock(k, name, key)
	return Lock{ObjectLock: l, Client: c, shard: c.shard(l.Key())}
}

// nameKey is the key of the lock's state in its shard.
func (l *Lock) nameKey() nameKey { return nameKey{l.Key(), l.Traits.Family} }

// held is what an owner holds by l's kind.
func (l *Lock) held(st *OwnerState) kind.Held {
	return kind.Held{Kind: l.kind, Names: &l.names, Owner: st}
}

// AnyHeld tells whether this client has a living hold of the name for which such returns true.
func (l *Lock) AnyHeld(such func(kind.Held) bool) bool {
	defer l.shard.enter(mustNotBlock).leave()
	n := l.shard.find(l)
	if n == nil {
		return false
	}
	for st := n.states; st != nil; st = st.next {
		if st.find(func(h *Hold) bool { return such(h.lock.held(st)) }) != nil {
			return true
		}
	}
	return false
}

// Of is the same object's lock of another kind.
func (l *Lock) Of(k kind.Kind) Lock {
	of := *l
	of.kind = k
	return of
}

// Margin is how long before the end of trust the contexts of a hold end.
func (l *Lock) Margin(t *Terms) time.Duration {
	if t.HasMargin {
		return t.Margin
	}
	return l.Client.Margin
}

// info is what is known of a lock that is held.
type info struct {
	Owner   Owner         // who holds it
	Count   int           // of the owner's holds
	TTL     time.Duration // codec.NoTTL: it never expires
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

// Terms are what one acquisition asks for.
type Terms struct {
	Lease     time.Duration // fixed; 0: the watchdog extends it
	MaxHold   time.Duration // 0: no bound
	AtLeast   time.Duration // how long the lock stays taken, even if it is released before; 0: no longer than it is held
	Wait      time.Duration // how long the call may wait; 0 with HasWait: it makes one attempt
	Place     time.Duration // how much longer a place in the server's queue lasts than the place before it, and the longest pause between two tries; 0: as the kind has it
	Margin    time.Duration // how long before the end of trust the hold's contexts end; without HasMargin the client's
	Owner     Owner         // the owner that acquires, with As; else a new one does
	As        bool          // Owner is given
	HasWait   bool          // Wait is given; else the call waits as long as its context
	HasMargin bool          // Margin is given
	Size      int           // how many permits, of a kind that has some
}
