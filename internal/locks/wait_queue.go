package locks

import (
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// maxSpares bounds how many queues a shard keeps for the next name. Without spare ones an
// acquire and its release make a sixth more allocations and need half as many bytes again.
const maxSpares = 8

// queue is one queue of one name's waiters, with what carries out its actions: a timer,
// subscriptions and the name's attempts. All of it is guarded by the shard's mutex.
type queue struct {
	waitqueue.Queue
	shard *shard
	name  *nameState    // that it belongs to; nil: none
	l     *Lock         // a handle, for its kind
	owner Owner         // whose queue it is, where each owner has one
	place time.Duration // that owner's wait as the server was first told it; 0: without limit, -1: not told yet
	prev  *queue        // in the name's list
	next  *queue        // in the name's list

	touched     bool // it is among the shard's
	timer       *time.Timer
	subs        []*topology.Listening // as many as the topology says; it listens when all are confirmed
	unconfirmed int                   // of them
	deaf        bool                  // it counts in Client.unheard
	listens     Owner                 // the owner whose channel it listens on, where each has one
	epoch       int                   // counts subscriptions, to ignore the calls of old ones
	acting      bool                  // step is running
	ttl         time.Duration         // of the key, by the last answer that it is taken; 0: not known; below 0: it never expires
	unset       bool                  // the last answer was that there are no permits at all
}

// queueLone gives a lone waiter its queue. It returns the first of the name's queues, nil if nobody waits.
func (n *nameState) queueLone() *queue {
	if w := n.lone; w != nil { // its attempt is under way; it gets its queue
		n.lone = nil
		n.ensureQueue(w.l, w.queueOwner).Adopt(w.began, &w.Waiter)
	}
	return n.queues
}

// eachQueue iterates over the name's queues. The loop may report events to the current one.
func (n *nameState) eachQueue(yield func(*queue) bool) {
	for q := n.queueLone(); q != nil; q = q.next {
		if q.touch(); !yield(q) {
			return
		}
	}
}

// ownerQueue is the key of an owner's queue in its shard, so that finding it does not depend on
// how many there are.
type ownerQueue struct {
	name  *nameState
	sort  string // Traits.Queue
	owner Owner
}

// findQueue is the queue of l's kind, and of the owner where each has one, nil if nobody waits.
func (n *nameState) findQueue(l *Lock, o Owner) *queue {
	q := n.queueLone()
	if l.Traits.ByOwner {
		q = n.lock.shard.byOwner[ownerQueue{n, l.Traits.Queue, o}]
	} else {
		for q != nil && (q.l.Traits.ByOwner || q.l.Traits.Queue != l.Traits.Queue) {
			q = q.next
		}
	}
	if q != nil {
		q.touch()
	}
	return q
}

// touch notes that something may happen to the queue. step must follow.
func (q *queue) touch() {
	if s := q.shard; !q.touched {
		q.touched, s.touched = true, append(s.touched, q)
	}
}

// ensureQueue finds or makes the queue. step must follow, which drops it if it is not needed.
func (n *nameState) ensureQueue(l *Lock, o Owner) *queue {
	if q := n.findQueue(l, o); q != nil {
		return q
	}
	s := n.lock.shard
	var q *queue
	if last := len(s.spareQueues) - 1; last >= 0 {
		q, s.spareQueues = s.spareQueues[last], s.spareQueues[:last]
	} else {
		q = &queue{Queue: waitqueue.New(s.client.Timeout, rand.N[time.Duration]), shard: s}
	}
	q.name, q.l, q.owner, q.listens, q.place, q.unset = n, l, o, o, -1, false
	q.ttl = 0
	if q.next = n.queues; q.next != nil {
		q.next.prev = q
	}
	n.queues = q
	if l.Traits.ByOwner {
		s.byOwner[ownerQueue{n, l.Traits.Queue, o}] = q
	}
	q.touch()
	var share *waitqueue.FairShare
	if l.Traits.FairShare {
		share = n.fairShare
	}
	q.Follow(l.Traits, share)
	return q
}

// choosePlace is the wait that the server is told for a waiter of the queue. Where each owner
// has a queue, all that wait as the owner share one place, with the wait of the first.
func (q *queue) choosePlace(wait time.Duration) time.Duration {
	if q.place < 0 || !q.l.Traits.ByOwner {
		q.place = wait
	}
	return q.place
}

// step carries out what the queues ask for to which something has happened, so its cost does
// not grow with the other queues. It is called after every event. If an action caused the
// event, the step under way handles it.
func (n *nameState) step() {
	s := n.lock.shard
	if n.queues == nil {
		n.dropIfIdle()
	}
	for len(s.touched) > 0 { // an action may make and drop others
		last := len(s.touched) - 1
		q := s.touched[last]
		q.touched, s.touched[last], s.touched = false, nil, s.touched[:last]
		q.step()
	}
}

// step takes the actions of one queue.
func (q *queue) step() {
	n := q.name
	if q.acting || n == nil {
		return
	}
	q.acting = true
	now, more := q.shard.Now(), true
	for more {
		switch a := q.Next(now); a.Do {
		case waitqueue.Nothing:
			more = false
		case waitqueue.Attempt:
			a.Waiter.Call.(*Waiter).try()
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
			more = false
		}
	}
	q.acting = false
}

// drop removes the queue from its name, and keeps it for another.
func (q *queue) drop() {
	n, s := q.name, q.shard
	if q.prev == nil {
		n.queues = q.next
	} else {
		q.prev.next = q.next
	}
	if q.next != nil {
		q.next.prev = q.prev
	}
	if q.l.Traits.ByOwner {
		delete(s.byOwner, ownerQueue{n, q.l.Traits.Queue, q.owner})
	}
	q.name, q.l, q.prev, q.next = nil, nil, nil, nil
	if len(s.spareQueues) < maxSpares {
		s.spareQueues = append(s.spareQueues, q)
	}
	n.dropIfIdle()
}

// subscribe listens on the kind's channel.
func (q *queue) subscribe() {
	q.epoch++
	l := q.l
	channel, where := l.kind.Channel(&l.names, q.listens), q.shard.client.top.Subscriptions(l.slot)
	q.unconfirmed = len(where)
	q.setDeaf(true)
	for _, s := range where {
		sub := &subscriber{kind: l.kind, channel: channel, queue: q, epoch: q.epoch, alone: len(where) == 1}
		q.subs = append(q.subs, s.Subscribe(channel, sub))
	}
}

// resubscribe follows the name's slot to another node, or the waiters to another
// channel. Until the confirmation, which makes the head look, the queue does not
// listen.
func (q *queue) resubscribe() {
	if len(q.subs) > 0 {
		q.unsubscribe()
		q.Unconfirmed(q.shard.Now() + q.shard.lookAfter())
		q.subscribe()
	}
}

// unsubscribe leaves the channel.
func (q *queue) unsubscribe() {
	for _, sub := range q.subs {
		sub.Close()
	}
	clear(q.subs)
	q.subs = q.subs[:0]
	q.epoch++
	q.setDeaf(false)
}

// setDeaf records whether the queue has subscribed but hears of no release.
func (q *queue) setDeaf(deaf bool) {
	unheard := &q.shard.client.unheard
	switch {
	case q.deaf == deaf:
	case deaf:
		unheard.Add(1)
	default:
		unheard.Add(-1)
	}
	q.deaf = deaf
}

// lookEvery is how often a queue looks that hears of no release. If there are more than a
// thousand such queues, each looks less often: together they look a thousand times in
// lookEvery.
const lookEvery = time.Second

// lookAfter is how long such a queue waits before it looks again, less up to a fifth at random.
func (s *shard) lookAfter() time.Duration {
	pause := max(lookEvery, time.Duration(s.client.unheard.Load())*lookEvery/1000)
	return pause - rand.N(pause/5)
}

// unheard bounds a pause during which the queue would miss a message.
func (q *queue) unheard(pause time.Duration) time.Duration {
	if q.Listening() || q.l.Traits.Silent {
		return pause
	}
	if most := q.shard.lookAfter(); pause < 0 || pause > most {
		return most
	}
	return pause
}

// tick is called by the timer.
func (q *queue) tick() {
	defer q.shard.enter(mustNotBlock).leave()
	if n := q.name; n != nil { // it has not been dropped since
		q.touch()
		q.Tick(q.shard.Now())
		n.step()
	}
}

// handOff lets the head's acquire follow an unlock of l's kind that has just been
// queued. It reports whether the message is of no use to this client.
func (n *nameState) handOff(l *Lock) bool {
	q := n.findQueue(l, Owner{})
	if q == nil {
		return false
	}
	own := q.HandOff(q.shard.Now())
	n.step()
	return own
}

// released makes an attempt for the head behind an answered unlock of l's kind, which publishes nothing and was
// not handed on.
func (n *nameState) released(l *Lock) {
	if n.queues == nil {
		return // an attempt of a lone waiter was queued behind the unlock
	}
	if q := n.findQueue(l, Owner{}); q != nil {
		q.Released()
		n.step()
	}
}

// wakeHead makes an attempt for the head of each queue, when no message will come of the
// release that it waits for. It leaves out queues by owner: there the server knows whose turn
// it is, and has told that owner.
func (n *nameState) wakeHead() {
	for q := range n.eachQueue {
		if !q.l.Traits.ByOwner {
			q.WakeHead()
		}
	}
	if n.queues != nil {
		n.step()
	}
}

// passPlaceOn hands the owner's place in the server's queue to another caller that waits as the
// owner, and reports whether there is one. That caller leaves the place in its turn, even if the
// server never answers it. A caller that makes one attempt needs no place.
func (n *nameState) passPlaceOn(l *Lock, o Owner) bool {
	q := n.findQueue(l, o)
	if q == nil {
		return false
	}
	for w := range q.All() {
		if w.Call.(*Waiter).takePlace() {
			return true
		}
	}
	return false
}

// waiters iterates over the waiters of all queues.
func (n *nameState) waiters(yield func(*waitqueue.Waiter) bool) {
	for q := n.queues; q != nil; q = q.next {
		for w := range q.Waiting() {
			if !yield(w) {
				return
			}
		}
	}
}
