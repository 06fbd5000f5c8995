package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/waitqueue"
)

// shardCount is how many shards a client has.
const shardCount = 64

// shard guards the client's state of a part of the names. One mutex covers a
// name's queue, its owners and their holds, so that a grant, a wake-up and a
// cancellation at the same time have one order. Requests are queued with the
// mutex held, which does no I/O. Only a section takes the mutex.
type shard struct {
	section // guards what follows
	client  *Client

	names   map[nameKey]*nameState
	forcing int    // number of ForceUnlocks that may still run, of any name
	past    memory // what a failover may undo, of all names

	fairShares  waitqueue.Table
	spareQueues []*queue // queues that nobody waits in
	byOwner     map[ownerQueue]*queue
	touched     []*queue                 // those that step must look at, the latest first
	leavers     map[*nameState][]*leaver // who waits to leave the server's queue; while there is an entry, a script is under way
}

// init makes the zero shard ready.
func (s *shard) init(c *Client) {
	s.client, s.clock, s.exec = c, c.Clock, c.exec
	s.names, s.byOwner, s.leavers = map[nameKey]*nameState{}, map[ownerQueue]*queue{}, map[*nameState][]*leaver{}
}

// nameKey is a key and a family of kinds.
type nameKey struct{ key, family string }

// nameState is the client's state of one key and one family of kinds: its waiters and
// its owners. It exists as long as there is one of either. There may be a
// hundred thousand names that are held and never waited for, so it is small.
type nameState struct {
	lock *Lock // a handle, for its key, its family and its shard

	// Everything below is guarded by the shard's section. What never changes is in the handle,
	// since names come and go with each acquisition.
	fairShare *waitqueue.FairShare  // nil unless this client releases the name often
	lone      *Waiter               // its attempt is under way, and there is nobody else: most attempts are granted at once
	queues    *queue                // one for each sort of waiters; nil while nobody waits and nothing is under way
	states    *OwnerState           // a list in no order; most of the time it has one element
	index     map[Owner]*OwnerState // of all states; nil while they are few
	forces    int16                 // how many times ForceUnlock was queued for it
	ahead     int16                 // releases that went aside and have no answer yet: acquires follow them
	pins      int32                 // calls under way that keep this name
	holders   int32                 // owners with a living hold
	exclusive int32                 // living holds of kinds of width 1
}

// Now is the time of the section that is in progress.
func (n *nameState) Now() time.Duration { return n.lock.shard.Now() }

// ownerState is the state of an owner of the lock, or nil. It is called with the shard locked.
func (l *Lock) ownerState(o Owner) *OwnerState {
	if n := l.shard.names[l.nameKey]; n != nil {
		return n.findOwnerState(o)
	}
	return nil
}

// eachName calls fn for each name of the shard, in a section.
func (s *shard) eachName(fn func(*nameState)) {
	defer s.enter(mustNotBlock).leave()
	for _, n := range s.names {
		fn(n) // which may drop it
	}
}

// ensure finds or makes the name's state. The caller must give it a waiter or an owner at once,
// or else use pin. It is called with the shard locked.
func (s *shard) ensure(l *Lock) *nameState {
	n := s.names[l.nameKey]
	if n == nil {
		n = &nameState{lock: l, fairShare: s.fairShares.Shares[l.key]}
		s.names[l.nameKey] = n
	}
	return n
}

// pin is ensure for a name whose state is kept until unpin. It is called with the shard
// locked.
func (s *shard) pin(l *Lock) *nameState {
	n := s.ensure(l)
	n.pins++
	return n
}

// pinKey pins the names of all families that have l's key: first l's, which it makes if there is
// none. It is called with the shard locked.
func (s *shard) pinKey(l *Lock) []*nameState {
	all := []*nameState{s.pin(l)}
	for at, n := range s.names {
		if at.key == l.key && n != all[0] {
			n.pins++
			all = append(all, n)
		}
	}
	return all
}

// unpin ends what pin began. It is called with the shard locked.
func (n *nameState) unpin() {
	n.pins--
	n.dropIfIdle()
}

// dropIfIdle drops the name if nobody waits or holds.
func (n *nameState) dropIfIdle() {
	if n.pins == 0 && n.states == nil && n.queues == nil && n.lone == nil {
		delete(n.lock.shard.names, n.lock.nameKey)
	}
}

// The owners of a name are a list, since there is mostly one. If many try for one name, they
// get an index, so that the cost of a call does not grow with their number.

// indexFrom is how many owners a search goes through before it makes an index of them. The
// index is dropped when fewer than half as many are left.
const indexFrom = 32

// findOwnerState is the owner's state, or nil.
func (n *nameState) findOwnerState(o Owner) *OwnerState {
	if n.index != nil {
		return n.index[o]
	}
	st := n.states
	for range indexFrom {
		if st == nil || st.Owner == o {
			return st
		}
		st = st.next
	}
	n.index = map[Owner]*OwnerState{}
	for st = n.states; st != nil; st = st.next {
		n.index[st.Owner] = st
	}
	return n.index[o]
}

// holds tells whether the owner has a living hold.
func (n *nameState) holds(o Owner) bool {
	st := n.findOwnerState(o)
	return st != nil && st.held > 0
}

// ensureOwnerState finds or makes the owner's state.
func (n *nameState) ensureOwnerState(o Owner) *OwnerState {
	if st := n.findOwnerState(o); st != nil {
		return st
	}
	return n.newOwnerState(o)
}

// livingHolds iterates over the living holds of the name.
func (n *nameState) livingHolds(yield func(*Hold) bool) {
	for st := n.states; st != nil; st = st.next {
		for h := st.holds; h != nil; h = h.next {
			if !yield(h) {
				return
			}
		}
	}
}

// ownerStates are the states of all owners of the name.
func (n *nameState) ownerStates() []*OwnerState {
	var states []*OwnerState
	for st := n.states; st != nil; st = st.next {
		states = append(states, st)
	}
	return states
}

// lockSnapshot is what there is of a lock in its client at one moment. It is for
// tests, which wait until something is under way.
type lockSnapshot struct {
	Known     bool  // there is any state
	Waiting   int   // callers in the queue
	Listening bool  // the queue's subscription is confirmed
	InFlight  bool  // an attempt of the queue has no answer, or there is no queue
	Hold      *Hold // a living one
}

// Snapshot describes the state that this client has of the lock.
func (l *Lock) Snapshot() lockSnapshot {
	s := l.shard
	defer s.enter(mustNotBlock).leave()
	n := s.names[l.nameKey]
	if n == nil {
		return lockSnapshot{InFlight: true}
	}
	q := n.findQueue(l, Owner{})
	now := lockSnapshot{Known: true, InFlight: q == nil}
	if n.states != nil {
		now.Hold = n.states.holds
	}
	if q != nil {
		now.Waiting, now.Listening = q.Len(), q.Listening()
		for w := range q.Waiting() {
			now.InFlight = now.InFlight || q.Facts(w).InFlight
		}
	}
	return now
}

// OwnerSnapshot is Snapshot for the owner of a hold: whether a command is under way, and how
// many wait for it.
func (h *Hold) OwnerSnapshot() (busy bool, queued int) {
	defer h.lock.shard.enter(mustNotBlock).leave()
	return h.state.busy, len(h.state.rare().queue)
}
