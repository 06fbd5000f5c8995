package lockstate

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
)

// ask asks the server of the lock's slot. It gives the section away meanwhile.
func (l *Lock) ask(call kind.Call, limit time.Duration) (reply any, err error) {
	r := l.c.Question(l.Slot, call, limit)
	if l.s.sec.enqueue(r) {
		l.s.blocks(func() { l.c.Exec.Finish(r) })
	}
	return core.Replied(r)
}

// askLater asks with what else is written when the section has been left, and calls then
// in another one.
func (l *Lock) askLater(call kind.Call, limit time.Duration, then func(reply any, err error)) {
	r := l.c.Question(l.Slot, call, limit)
	q := &asking{l, then}
	if r.Handler = q; !l.s.sec.enqueue(r) {
		l.c.Go(func() { q.Answered(r) })
	}
}

// asking is a question that nobody waits for.
type asking struct {
	l    *Lock
	then func(reply any, err error)
}

// Answered hands over the reply.
func (q *asking) Answered(r *command.Request) {
	defer q.l.s.enter(mustNotBlock).leave()
	q.then(core.Replied(r))
}

// Rest asks again.
func (q *asking) Rest(r *command.Request) {
	q.l.c.Exec.Finish(r)
	q.Answered(r)
}

// Info is what is known of a lock that is held.
type Info struct {
	Owner   owner.Owner   // who holds it
	Count   int           // of the owner's holds
	TTL     time.Duration // codec.NoTTL: it never expires
	Waiters int           // clients that listen for its release; -1: the server does not let them be counted
	Since   time.Time     // when this client acquired the oldest of the owner's living holds; zero: it has none
}

// Holder asks who holds the lock, and who waits; false means that nobody holds it.
func (l *Lock) Holder(ctx context.Context) (Info, bool, error) {
	a, err := l.Ask(ctx, kind.Holding, owner.Owner{})
	if err != nil || !a.Yes {
		return Info{}, false, err
	}
	i := Info{Count: int(a.N), TTL: a.TTL}
	if i.Owner, err = owner.Parse(a.Owner); err == nil {
		i.Since = l.since(i.Owner)
		i.Waiters, err = l.CountListeners(ctx)
	}
	return i, err == nil, err
}

// since is when this client acquired the oldest of the owner's living holds.
func (l *Lock) since(o owner.Owner) time.Time {
	defer l.s.enter(mustNotBlock).leave()
	st := l.ownerState(o)
	if st == nil || st.holds == nil {
		return time.Time{}
	}
	first := clock.Never
	for h := st.holds; h != nil; h = h.next {
		first = min(first, h.since)
	}
	wall := time.Now()
	return wall.Add(first - st.n.now())
}

// noteRelease records in the name's fair share, which may be new, that this client
// releases its last hold of it. If it is time, it counts the clients that want the
// name.
func (n *name) noteRelease(l *Lock) {
	now := n.now()
	q := n.findQueue(l, owner.Owner{})
	if q != nil {
		q.Use(n.fairShare)
	}
	listens := q != nil && q.Listening()
	n.fairShare.Released(now, listens)
	if !n.l.c.noClientCounts.Load() && n.fairShare.CountDue(now) {
		n.countClients(l, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel. All
// that wait for it are. The command travels with the unlock. Where there are two
// kinds of channel it asks for both, and takes the larger number: who listens to
// both, as this library does, must not count twice. The last answer decides. listens
// says that this client is among them.
func (n *name) countClients(l *Lock, listens bool) {
	share, questions := n.fairShare, l.ListenerCalls()
	open, most, failed := len(questions), 0, false // guarded by the shard's mutex
	for _, call := range questions {
		l.askLater(call, n.now(), func(reply any, err error) {
			clients, err := core.Listeners(reply, err)
			if command.IsRefusal(err) { // courtesy can do without
				l.c.noClientCounts.Store(true)
			}
			open, most, failed = open-1, max(most, clients), failed || err != nil
			switch {
			case open > 0:
			case failed:
				share.CountFailed()
			case listens:
				share.SetClients(most)
			default:
				share.SetClients(most + 1)
			}
		})
	}
}

// Lock is a lock as its client's state knows it. It never changes, and holds
// nothing of what becomes of the lock.
type Lock struct {
	core.Lock
	c *State
	s *shard // the key's
}

// NewLock makes a lock of its kind, its name, and the key that the name is
// mapped to.
func (c *State) NewLock(k kind.Kind, name, key string) Lock {
	return Lock{Lock: c.Client.NewLock(k, name, key), c: c, s: c.shard(key)}
}

// nameKey is where its name is found.
func (l *Lock) nameKey() nameKey { return nameKey{l.Key(), l.Traits.Family} }
