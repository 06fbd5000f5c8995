package lockstate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// maxSpareQueues bounds how many queues a shard keeps for the next name. Without
// spare ones a pair makes a sixth more allocations and half as many bytes again.
const maxSpareQueues = 8

// waitQueue is one queue of one name's waiters with what it acts by: a timer, a
// subscription and the name's attempts. All of it is guarded by the shard's
// mutex.
type waitQueue struct {
	waitqueue.Queue
	shard *shard
	n     *name         // whose it is; nil: nobody's
	l     *Lock         // a handle, for its kind
	owner Owner         // whose queue it is, where each owner has one
	place time.Duration // how long that owner waits, as the server was told first; 0: as long as it takes, -1: nothing yet
	next  *waitQueue    // of the name

	timer       *time.Timer
	subs        []*topology.Listening // as many as the topology says; it listens when all are confirmed
	unconfirmed int                   // of them
	listens     Owner                 // for whom, where that makes a difference
	epoch       int                   // counts subscriptions, so that an old one's calls are told apart
	acting      bool                  // an action is being taken
}

// first is the first of the name's queues, nil if nobody waits. It is called
// with the shard locked.
func (n *name) first() *waitQueue {
	if w := n.only; w != nil { // its attempt is under way; it gets its queue
		n.only = nil
		n.ensureQueue(w.l, w.queueOwner).Adopt(w.began, &w.Waiter)
	}
	return n.queues
}

// findQueue is the queue of l's kind, and of the owner where each has one, nil
// if nobody waits.
func (n *name) findQueue(l *Lock, o Owner) *waitQueue {
	for q := n.first(); q != nil; q = q.next {
		if q.l.traits.Queue == l.traits.Queue && (!l.traits.ByOwner || q.owner == o) {
			return q
		}
	}
	return nil
}

// ensureQueue finds or makes the queue. step must follow, which drops it if it
// is not needed. It is called with the shard locked.
func (n *name) ensureQueue(l *Lock, o Owner) *waitQueue {
	if q := n.findQueue(l, o); q != nil {
		return q
	}
	s := n.l.s
	var q *waitQueue
	if last := len(s.spareQueues) - 1; last >= 0 {
		q, s.spareQueues = s.spareQueues[last], s.spareQueues[:last]
	} else {
		q = &waitQueue{Queue: waitqueue.New(n.l.c.o.Timeout, rand.N[time.Duration]), shard: s}
	}
	q.n, q.l, q.owner, q.listens, q.place = n, l, o, o, -1
	q.next, n.queues = n.queues, q
	q.Follow(l.traits)
	q.Use(nil)
	if l.traits.FairShare {
		q.Use(n.fairShare)
	}
	return q
}

// choosePlace is how long a waiter of the queue waits, as the server is told: where
// each owner has a queue there is one place for all who wait as that owner.
func (q *waitQueue) choosePlace(wait time.Duration) time.Duration {
	if q.place < 0 || !q.l.traits.ByOwner {
		q.place = wait
	}
	return q.place
}

// step takes the actions that the queues ask for. It follows every event. An
// event that comes of an action is followed by the step that is under way. It
// is called with the shard locked.
func (n *name) step() {
	q := n.queues
	switch {
	case q == nil:
		n.dropIfIdle()
	case q.next == nil: // as nearly always
		q.step()
	default:
		for n.stepOne() { // an action may make and drop others
		}
	}
}

// stepOne steps the first queue that has something to do.
func (n *name) stepOne() bool {
	for q := n.queues; q != nil; q = q.next {
		if q.step() {
			return true
		}
	}
	return false
}

// step takes the actions of one queue. It reports whether there were any.
func (q *waitQueue) step() (some bool) {
	if q.acting {
		return false
	}
	q.acting = true
	n := q.n
	now := n.now()
	for q.n == n {
		a := q.Next(now)
		if a.Do == waitqueue.Nothing {
			break
		}
		some = true
		q.act(a, now)
	}
	q.acting = false
	return some
}

// drop takes the queue off its name, and keeps it for another.
func (q *waitQueue) drop() {
	n, s := q.n, q.shard
	for at := &n.queues; *at != nil; at = &(*at).next {
		if *at == q {
			*at = q.next
			break
		}
	}
	q.n, q.l, q.next = nil, nil, nil
	if len(s.spareQueues) < maxSpareQueues {
		s.spareQueues = append(s.spareQueues, q)
	}
	n.dropIfIdle()
}

// act takes one action.
func (q *waitQueue) act(a waitqueue.Action, now time.Duration) {
	n := q.n
	switch a.Do {
	case waitqueue.Attempt:
		n.try(a.Waiter.Call.(*Waiter))
	case waitqueue.Settle:
		a.Waiter.Call.(*Waiter).endWait(a.Why, a.Err)
	case waitqueue.Unsubscribe:
		q.unsubscribe()
	case waitqueue.Subscribe:
		q.subscribe()
	case waitqueue.SetTimer:
		if d := max(a.At-now, 0); q.timer == nil {
			q.timer = time.AfterFunc(d, q.tick)
		} else {
			q.timer.Reset(d)
		}
	case waitqueue.StopTimer:
		q.timer.Stop()
	case waitqueue.Drop:
		q.drop()
	}
}

// subscribe listens on the kind's channel.
func (q *waitQueue) subscribe() {
	q.epoch++
	l := q.l
	channel, where := l.kind.Channel(&l.names, q.listens), l.c.top.Subscriptions(l.slot)
	q.unconfirmed = len(where)
	for _, s := range where {
		sub := &subscriber{kind: l.kind, channel: channel, queue: q, epoch: q.epoch, alone: len(where) == 1}
		q.subs = append(q.subs, s.Subscribe(channel, sub))
	}
}

// resubscribe follows the name's slot to another node, or the waiters to another
// channel. Until the confirmation, which makes the head look, the queue does not
// listen. It is called with the shard locked.
func (q *waitQueue) resubscribe() {
	if len(q.subs) > 0 {
		q.unsubscribe()
		q.Unconfirmed()
		q.subscribe()
	}
}

// unsubscribe leaves the channel.
func (q *waitQueue) unsubscribe() {
	for _, sub := range q.subs {
		sub.Close()
	}
	clear(q.subs)
	q.subs = q.subs[:0]
	q.epoch++
}

// listenFor has the queue listen for another owner, who takes the place of the
// one that is not used again.
func (q *waitQueue) listenFor(o Owner) {
	if q.listens != o {
		q.listens = o
		q.resubscribe()
	}
}

// tick is called by the timer.
func (q *waitQueue) tick() {
	defer q.shard.enter(mustNotBlock).leave()
	if n := q.n; n != nil { // it has not been dropped since
		q.Tick(q.n.now())
		n.step()
	}
}

// letThrough makes attempts for the waiters whose owner has just acquired the
// name by another call. Otherwise they would wait for themselves (A3).
func (n *name) letThrough(o Owner) {
	for q := n.first(); q != nil; q = q.next {
		if q.Shares() {
			q.LetThrough(o)
		}
	}
}

// handOff lets the head's acquire follow an unlock of l's kind that has just been
// queued. It reports whether the message is of no use to this client.
func (n *name) handOff(l *Lock) bool {
	q := n.findQueue(l, Owner{})
	if q == nil {
		return false
	}
	own := q.HandOff(q.n.now())
	n.step()
	return own
}

// wakeHead makes an attempt for the head of each queue, when a release that it
// waits for will not come. Where each owner has a queue, the server knows whose turn
// it is, and has told that one.
func (n *name) wakeHead() {
	for q := n.first(); q != nil; q = q.next {
		if !q.l.traits.ByOwner {
			q.WakeHead()
		}
	}
	if n.queues != nil {
		n.step()
	}
}

// subscriber is what the hub wakes: a queue, by one of its subscriptions.
type subscriber struct {
	kind      kind.Kind
	channel   string
	queue     *waitQueue
	epoch     int
	alone     bool // it is the queue's only one
	confirmed bool
}

// Confirmed makes the head look, once all subscriptions are confirmed: what was
// published before is gone (P2).
func (sub *subscriber) Confirmed() {
	sub.tell(func(q *waitQueue) {
		if !sub.confirmed {
			sub.confirmed = true
			q.unconfirmed--
		}
		if q.unconfirmed == 0 {
			q.Queue.Confirmed()
		}
	})
}

// Message makes the head look, if its kind of lock says so (P3). Before all are
// confirmed it is of no use: the head will look anyway.
func (sub *subscriber) Message(payload []byte) {
	if n := sub.kind.Wake(payload); n > 0 {
		sub.tell(func(q *waitQueue) {
			if q.unconfirmed == 0 {
				q.Queue.Message(q.n.now(), n)
			}
		})
	}
}

// Twin drops what another subscription of the queue has just heard.
func (sub *subscriber) Twin(payload []byte) {
	if sub.alone {
		sub.Message(payload)
	}
}

// Refused ends the waits: without a subscription nobody would be woken.
func (sub *subscriber) Refused(err error) {
	sub.tell(func(q *waitQueue) {
		q.SubscriptionRefused(fmt.Errorf("subscribe to %s: %w", Quote(sub.channel), err))
	})
}

// tell reports an event to the queue, unless the subscription was replaced.
func (sub *subscriber) tell(event func(*waitQueue)) {
	q := sub.queue
	defer q.shard.enter(mustNotBlock).leave()
	if sub.epoch != q.epoch {
		return
	}
	event(q)
	q.n.step()
}
