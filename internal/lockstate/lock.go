package lockstate

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
)

// Ask reads something of the lock, or of the owner, for at most a command
// timeout.
func (l *Lock) Ask(ctx context.Context, q kind.Question, o owner.Owner) (kind.Answer, error) {
	if l.c.Closed() {
		return kind.Answer{}, lockerr.ErrClosed
	}
	query := l.kind.Ask(q, &kind.Want{Names: &l.names, Owner: o})
	if query.Empty() {
		return kind.Answer{}, fmt.Errorf("%w: only NewFencedLock's locks have a token", lockerr.ErrInvalidOption)
	}
	reply, err := l.c.query(ctx, l.slot, query.Call)
	if err != nil {
		return kind.Answer{}, err
	}
	return query.Answer(reply)
}

// question makes a command of whose sends any number may run: mostly one that only
// reads. It is asked again until it is answered, its limit has come or the client is
// closed.
func (c *State) question(slot uint16, call kind.Call, limit time.Duration) *command.Request {
	r := &command.Request{Resend: call.Resend, Until: limit, Aside: call.Writes}
	c.fill(r, slot, call)
	return r
}

// replied is how a question has ended.
func replied(r *command.Request) (reply any, err error) {
	if r.Fate == command.Closed {
		return nil, lockerr.ErrClosed
	}
	return r.Wire.Reply, r.Wire.Err
}

// ask asks the server of the lock's slot. It gives the section away meanwhile.
func (l *Lock) ask(call kind.Call, limit time.Duration) (reply any, err error) {
	r := l.c.question(l.slot, call, limit)
	if l.s.sec.enqueue(r) {
		l.s.blocks(func() { l.c.exec.Finish(r) })
	}
	return replied(r)
}

// askLater asks with what else is written when the section has been left, and calls then
// in another one.
func (l *Lock) askLater(call kind.Call, limit time.Duration, then func(reply any, err error)) {
	r := l.c.question(l.slot, call, limit)
	q := &asking{l, then}
	if r.Handler = q; !l.s.sec.enqueue(r) {
		l.c.start(func() { q.Answered(r) })
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
	q.then(replied(r))
}

// Rest asks again.
func (q *asking) Rest(r *command.Request) {
	q.l.c.exec.Finish(r)
	q.Answered(r)
}

// query asks the server of slot and waits for its reply, for at most a command
// timeout.
func (c *State) query(ctx context.Context, slot uint16, call kind.Call) (any, error) {
	if c.Closed() {
		return nil, lockerr.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// One that is asked again just before its limit may wait for a connection
	// for two timeouts more; its caller does not. Else the answer comes first.
	limited, cancel := context.WithTimeout(ctx, c.o.Timeout+c.o.Timeout/8)
	defer cancel()
	r := c.question(slot, call, c.now()+c.o.Timeout)
	r.Left = limited.Done()
	switch fate := c.exec.Do(r); {
	case fate != command.Open && fate != command.TakenBack:
		return replied(r)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, cmp.Or(c.exec.Trouble(slot), command.NoReply("no reply within %v", c.o.Timeout))
}

// Prove returns nil when a server has answered. It blocks for no longer than ctx
// and a command timeout.
func (c *State) Prove(ctx context.Context) error {
	if by, ok := c.top.(topology.Prover); ok {
		return by.Prove(ctx)
	}
	reply, err := c.query(ctx, 0, kind.Read("PING"))
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("no Redis: PING was answered with a Go %T, not PONG", reply)
	}
	return err
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
		i.Waiters, err = l.countListeners(ctx)
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

// countListeners is how many clients listen for a release. Of two kinds of channel
// it is the larger number, as with countClients. Where each owner has a channel of
// its own, it is how many wait in the server's queue.
func (l *Lock) countListeners(ctx context.Context) (int, error) {
	if l.traits.ByOwner {
		a, err := l.Ask(ctx, kind.Waiting, owner.Owner{})
		return int(a.N), err
	}
	if l.traits.Silent {
		return 0, nil
	}
	most := -1
	for _, s := range l.c.top.Subscriptions(l.slot) {
		n, err := listeners(l.c.query(ctx, l.slot, l.countCall(s)))
		if command.IsRefusal(err) {
			continue // the server does not let this account count, or knows no such channels
		}
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
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
	share, questions := n.fairShare, l.c.top.Subscriptions(l.slot)
	open, most, failed := len(questions), 0, false // guarded by the shard's mutex
	for _, s := range questions {
		l.askLater(l.countCall(s), n.now(), func(reply any, err error) {
			clients, err := listeners(reply, err)
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

// countCall counts the channel's subscribers of such a sort.
func (l *Lock) countCall(s topology.Subscription) kind.Call {
	by := "NUMSUB"
	if s.Sharded {
		by = "SHARDNUMSUB"
	}
	return kind.Read("PUBSUB", by, l.kind.Channel(&l.names, nil))
}

// listeners reads the answer to PUBSUB NUMSUB of one channel.
func listeners(reply any, err error) (int, error) {
	pair, err := redis.Values(reply, err)
	if err != nil {
		return 0, err
	}
	if len(pair) != 2 {
		return 0, fmt.Errorf("PUBSUB NUMSUB was answered with %d elements", len(pair))
	}
	return redis.Int(pair[1], nil)
}

// Lock is a lock as its client's state knows it. It never changes, and holds
// nothing of what becomes of the lock.
type Lock struct {
	c      *State
	s      *shard // the key's
	kind   kind.Kind
	traits *kind.Traits // the kind's
	name   string
	names  kind.Names // of the key, boxed once for every command
	slot   uint16     // of the key
}

// NewLock makes a lock of its kind, its name, and the key that the name is
// mapped to.
func (c *State) NewLock(k kind.Kind, name, key string) Lock {
	traits := k.Traits()
	return Lock{c: c, s: c.shard(key), kind: k, traits: traits, name: name, names: k.Names(key), slot: codec.Slot(key)}
}

// Name is the name that the caller gave it.
func (l *Lock) Name() string { return l.name }

// Timeout is its client's command timeout.
func (l *Lock) Timeout() time.Duration { return l.c.o.Timeout }

// Key is the mapped name.
func (l *Lock) Key() string { return l.names.Key() }

// nameKey is where its name is found.
func (l *Lock) nameKey() nameKey { return nameKey{l.Key(), l.traits.Family} }

// SameKey tells whether both are of one key of one client.
func (l *Lock) SameKey(other *Lock) bool { return l.c == other.c && l.Key() == other.Key() }

// Compare puts locks into the order in which those are acquired that are acquired
// together: by server and by key.
func (l *Lock) Compare(other *Lock) int {
	return cmp.Or(cmp.Compare(l.c.top.String(), other.c.top.String()), cmp.Compare(l.Key(), other.Key()))
}

// publish is what announces a release.
func (l *Lock) publish() luasrc.Arg { return l.c.top.Publish(l.slot) }

// pause is for how long a waiter waits unwoken, after so many tries of its own
// and the answer to the last one.
func (l *Lock) pause(tries int, g kind.Grant) time.Duration {
	least, most := l.kind.Pause(tries, g)
	if least >= most {
		return least
	}
	return least + rand.N(most-least+1)
}

// Scattered tells which of the names that belong to the lock a cluster would keep
// on another server than the lock itself, if there is one: it could be locked
// there, and never unlocked. It is nil where all of them are together, and on one
// server.
func (l *Lock) Scattered() error {
	if l.c.spansSlots {
		return nil
	}
	const put = "put what the slot is to be made of in braces, such as {order:17}:a"
	for _, n := range l.names[1:] {
		if name, ok := n.(string); ok && codec.Slot(name) != l.slot {
			return fmt.Errorf("in a cluster the lock would be in slot %d, its %s in slot %d; %s", l.slot, lockerr.Quote(name), codec.Slot(name), put)
		}
	}
	if !codec.SlotSafe(l.Key()) { // a latch is of an unlock, or of what is sent by Lock.Change
		return fmt.Errorf("in a cluster the lock would be in slot %d, each of its latches in another; %s", l.slot, put)
	}
	return nil
}
