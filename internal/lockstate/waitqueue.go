package lockstate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/internal/waitqueue"
	"github.com/rlock-go/redisson/pubsub"
)

// maxSpareQueues bounds how many queues a shard keeps for the next name.
const maxSpareQueues = 8

// waitQueue is the queue of one name's waiters with what it acts by: a timer, a
// subscription and the name's attempts. All of it is guarded by the shard's
// mutex.
type waitQueue struct {
	waitqueue.Queue
	shard *shard
	n     *name      // whose it is
	next  *waitQueue // among the spare ones

	timer  *time.Timer
	sub    *pubsub.Subscription
	epoch  int  // counts subscriptions, so that an old one's calls are told apart
	acting bool // an action is being taken
}

// ensureQueue finds or makes the name's queue. step must follow, which drops it
// if it is not needed. It is called with the shard locked.
func (n *name) ensureQueue() *waitQueue {
	if n.queue == nil {
		s := n.s
		if n.queue = s.spareQueues; n.queue == nil {
			n.queue = &waitQueue{Queue: waitqueue.New(n.c.o.Timeout, rand.N[time.Duration]), shard: s}
		} else {
			s.spareQueues, n.queue.next = n.queue.next, nil
			s.spareCount--
		}
		n.queue.n = n
		n.queue.Use(n.fairShare)
	}
	return n.queue
}

// step takes the actions that the queue asks for. It follows every event. An
// event that comes of an action is followed by the step that is under way. It
// is called with the shard locked.
func (n *name) step() {
	q := n.queue
	if q == nil {
		n.dropIfIdle()
		return
	}
	if q.acting {
		return
	}
	q.acting = true
	now := n.now()
	for n.queue == q {
		a := q.Next(now)
		if a.Do == waitqueue.Nothing {
			break
		}
		q.act(a, now)
	}
	q.acting = false
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
		q.epoch++
		q.sub = n.c.node.hub.Subscribe(n.l.channel.(string), &subscriber{shard: q.shard, kind: n.l.kind, queue: q, epoch: q.epoch})
	case waitqueue.SetTimer:
		if d := max(a.At-now, 0); q.timer == nil {
			q.timer = time.AfterFunc(d, q.tick)
		} else {
			q.timer.Reset(d)
		}
	case waitqueue.StopTimer:
		q.timer.Stop()
	case waitqueue.Drop:
		n.queue = nil
		if q.shard.spareCount < maxSpareQueues {
			q.next, q.shard.spareQueues = q.shard.spareQueues, q
			q.shard.spareCount++
		}
		n.dropIfIdle()
	}
}

// now is the time of an event.
func (q *waitQueue) now() time.Duration { return q.n.now() }

// unsubscribe leaves the channel.
func (q *waitQueue) unsubscribe() {
	if q.sub != nil {
		q.sub.Close()
		q.sub = nil
		q.epoch++
	}
}

// stop leaves nothing of a queue whose client is closed (E2).
func (q *waitQueue) stop() {
	q.unsubscribe()
	if q.timer != nil {
		q.timer.Stop()
	}
}

// tick is called by the timer.
func (q *waitQueue) tick() {
	defer q.shard.enter(mustNotBlock).leave()
	n := q.n
	if n.queue != q {
		return // it has been dropped since
	}
	q.Tick(q.now())
	n.step()
}

// letThrough makes attempts for the waiters whose owner has just acquired the
// name by another call. Otherwise they would wait for themselves (A3).
func (n *name) letThrough(o Owner) {
	q := n.queue
	if q == nil || q.SharedOwners() == 0 {
		return
	}
	for w := range q.Waiting() {
		if call := w.Call.(*Waiter); call.Terms.As && call.Terms.Owner == o {
			q.LetThrough(w)
		}
	}
}

// handOff lets the head's acquire follow an unlock that has just been queued. It
// reports whether the message is of no use to this client.
func (n *name) handOff() bool {
	q := n.queue
	if q == nil {
		return false
	}
	own := q.HandOff(q.now())
	n.step()
	return own
}

// wakeHead makes an attempt for the head, when a release that it waits for will
// not come.
func (n *name) wakeHead() {
	if q := n.queue; q != nil && q.Len() > 0 {
		q.WakeHead()
		n.step()
	}
}

// subscriber is what the hub wakes: a queue, by one of its subscriptions.
type subscriber struct {
	shard *shard
	kind  *kind
	queue *waitQueue
	epoch int
}

// Confirmed makes the head look: what was published before is gone (P2).
func (sub *subscriber) Confirmed() {
	sub.tell(func(q *waitQueue) { q.Queue.Confirmed() })
}

// Message makes the head look, if its kind of lock says so (P3).
func (sub *subscriber) Message(payload []byte) {
	if sub.kind.wakes(payload) {
		sub.tell(func(q *waitQueue) { q.Queue.Message(q.now(), 1) })
	}
}

// Refused ends the waits: without a subscription nobody would be woken.
func (sub *subscriber) Refused(err error) {
	sub.tell(func(q *waitQueue) {
		q.SubscriptionRefused(fmt.Errorf("subscribe to %s: %w", Quote(q.n.l.channel.(string)), err))
	})
}

// tell reports an event to the queue, unless the subscription was replaced.
func (sub *subscriber) tell(event func(*waitQueue)) {
	q := sub.queue
	defer sub.shard.enter(mustNotBlock).leave()
	if sub.epoch != q.epoch {
		return
	}
	event(q)
	q.n.step()
}
