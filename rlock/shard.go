package rlock

import (
	"hash/maphash"
	"sync"
)

const shardCount = 64

// shard guards what the client knows of a part of the names. One mutex covers
// a name's queue, its owners and their holds, so that a grant, a wake-up and
// a cancellation that meet are put in one order. Requests are queued under
// it, which does no I/O; whoever unlocks flushes.
type shard struct {
	mu          sync.Mutex
	names       map[string]*name
	fairShares  fairShareTable
	later       []func()   // to be run without the lock: callbacks into others' code
	spareQueues *waitQueue // queues that nobody waits in
	spareCount  int
}

func (s *shard) lock() { s.mu.Lock() }

// unlock releases the shard and then runs what was put off.
func (s *shard) unlock() {
	later := s.later
	s.later = nil
	s.mu.Unlock()
	for _, fn := range later {
		fn()
	}
}

var shardSeed = maphash.MakeSeed()

func (c *Client) shard(key string) *shard {
	return &c.shards[maphash.String(shardSeed, key)%shardCount]
}

// name is what this client knows of one lock: who waits for it and who holds
// it. It lives in its shard as long as either is anybody. There may be a
// hundred thousand of them, held and never waited for, so it is small.
type name struct {
	c *Client
	s *shard
	l *Lock // a handle, for what never changes

	// All below is guarded by s.mu. Names come and go with each lock, so what
	// lasts longer is in the handle.
	queue     *waitQueue  // nil while nobody waits and nothing is under way
	fairShare *fairShare  // nil unless this client releases it often
	states    *ownerState // the first, in no order; most of the time the only one
	forces    int32       // how many times ForceUnlock was queued for it
	pins      int32       // calls under way that came to it
}

// pin finds or makes the name's state and keeps it until unpin. It is called
// with the shard locked.
func (s *shard) pin(l *Lock) *name {
	key := l.mapped()
	n := s.names[key]
	if n == nil {
		n = &name{c: l.c, s: s, l: l, fairShare: s.fairShares.shares[key]}
		s.names[key] = n
	}
	n.pins++
	return n
}

// unpin lets go of the name's state. It is called with the shard locked.
func (n *name) unpin() {
	n.pins--
	n.dropIfIdle()
}

// dropIfIdle drops the name's state if nobody waits or holds.
func (n *name) dropIfIdle() {
	if n.queue != nil {
		n.queue.dropIfIdle()
	}
	if n.pins == 0 && n.states == nil && n.queue == nil {
		if key := n.l.mapped(); n.s.names[key] == n {
			delete(n.s.names, key)
		}
	}
}

// ensureQueue finds or makes the name's queue. It is called with the shard locked.
func (n *name) ensureQueue() *waitQueue {
	if n.queue == nil {
		s := n.s
		if n.queue = s.spareQueues; n.queue == nil {
			n.queue = &waitQueue{shard: s}
		} else {
			s.spareQueues, n.queue.next = n.queue.next, nil
			s.spareCount--
		}
		n.queue.n = n
	}
	return n.queue
}

// step does what is due for those who wait, if anybody does.
func (n *name) step() {
	if n.queue != nil {
		n.queue.step()
	} else {
		n.dropIfIdle()
	}
}

// isQueueAttempt tells whether a is its queue's attempt.
func (n *name) isQueueAttempt(a *attempt) bool { return n.queue != nil && n.queue.current == a }

// waitsUnqueued tells whether w's attempts are made outside the queue.
func (n *name) waitsUnqueued(w *waiter) bool { return n.queue != nil && w.list == &n.queue.unqueued }
