package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/waiting"
)

const shardCount = 64

// shard guards the client's state of a part of the names. One mutex covers a
// name's queue, its owners and their holds, so that a grant, a wake-up and a
// cancellation at the same time have one order. Requests are queued with the
// mutex held, which does no I/O. Only a section takes the mutex.
type shard struct {
	section.Section // guards what follows

	names   map[nameKey]*name
	waiting waiting.Shard
	forcing int // number of ForceUnlocks that may still run, of any name

	past memory // what a failover may undo, of all names
}

// init makes the zero shard ready.
func (s *shard) init(c *client) {
	s.names = map[nameKey]*name{}
	s.Init(c.Clock, c.Exec)
	s.waiting.Init(&c.waits, &s.Section)
}

// nameKey is a key and a family of kinds.
type nameKey struct{ key, family string }

// name is the client's state of one key and one family of kinds: its waiters and
// its owners. It exists as long as there is one of either. There may be a
// hundred thousand names that are held and never waited for, so it is small.
type name struct {
	waiting.Line
	l *Lock // a handle, for its key, its family and its shard

	// Everything below is guarded by the shard's mu. What never changes is in the handle,
	// since names come and go with each acquisition.
	states    *OwnerState                 // a list in no order; most of the time it has one element
	index     map[owner.Owner]*OwnerState // of all states; nil while they are few
	forces    int16                       // how many times ForceUnlock was queued for it
	ahead     int16                       // releases that went aside and have no answer yet: acquires follow them
	pins      int32                       // calls under way that keep this name
	holders   int32                       // owners with a living hold
	exclusive int32                       // living holds of kinds of width 1
}

// Waiting is what the names of the shard share.
func (n *name) Waiting() *waiting.Shard { return &n.l.s.waiting }

// now is the time of the section that is in progress.
func (n *name) now() time.Duration { return n.l.s.Now() }

// find is the state of l's key and family, or nil. It is called with the shard locked.
func (s *shard) find(l *Lock) *name { return s.names[l.nameKey()] }

// ownerState is the state of an owner of the lock, or nil. It is called with the shard locked.
func (l *Lock) ownerState(o owner.Owner) *OwnerState {
	if n := l.s.find(l); n != nil {
		return n.findOwnerState(o)
	}
	return nil
}

// ensure finds or makes the name's state. The caller must give it a waiter or an owner at once,
// or else use pin. It is called with the shard locked.
func (s *shard) ensure(l *Lock) *name {
	n := s.find(l)
	if n == nil {
		n = &name{l: l}
		n.Line.Init(n, l.Key())
		s.names[l.nameKey()] = n
	}
	return n
}

// pin is ensure for a name whose state is kept until unpin. It is called with the shard
// locked.
func (s *shard) pin(l *Lock) *name {
	n := s.ensure(l)
	n.pins++
	return n
}

// unpin ends what pin began. It is called with the shard locked.
func (n *name) unpin() {
	n.pins--
	n.DropIfIdle()
}

// DropIfIdle drops the name if nobody waits or holds.
func (n *name) DropIfIdle() {
	if n.pins == 0 && n.states == nil && n.Empty() {
		delete(n.l.s.names, n.l.nameKey())
	}
}

// The owners of a name are a list, since there is mostly one. If many try for one name, they
// get an index, so that the cost of a call does not grow with their number.

// indexFrom is how many owners a search goes through before it makes an index of them. The
// index is dropped when fewer than half as many are left.
const indexFrom = 32

// findOwnerState is the owner's state, or nil.
func (n *name) findOwnerState(o owner.Owner) *OwnerState {
	if n.index != nil {
		return n.index[o]
	}
	st := n.states
	for range indexFrom {
		if st == nil || st.owner == o {
			return st
		}
		st = st.next
	}
	n.index = map[owner.Owner]*OwnerState{}
	for st = n.states; st != nil; st = st.next {
		n.index[st.owner] = st
	}
	return n.index[o]
}

// holds tells whether the owner has a living hold.
func (n *name) holds(o owner.Owner) bool {
	st := n.findOwnerState(o)
	return st != nil && st.held > 0
}

// ensureOwnerState finds or makes the owner's state.
func (n *name) ensureOwnerState(o owner.Owner) *OwnerState {
	if st := n.findOwnerState(o); st != nil {
		return st
	}
	return n.newOwnerState(o)
}

// livingHolds iterates over the living holds of the name.
func (n *name) livingHolds(yield func(*Hold) bool) {
	for st := n.states; st != nil; st = st.next {
		for h := st.holds; h != nil; h = h.next {
			if !yield(h) {
				return
			}
		}
	}
}

// ownerStates are the states of all owners of the name.
func (n *name) ownerStates() []*OwnerState {
	var states []*OwnerState
	for st := n.states; st != nil; st = st.next {
		states = append(states, st)
	}
	return states
}

// LockSnapshot is what there is of a lock in its client at one moment. It is for
// tests, which wait until something is under way.
type LockSnapshot struct {
	Known     bool  // there is any state
	Waiting   int   // callers in the queue
	Listening bool  // the queue's subscription is confirmed
	InFlight  bool  // an attempt of the queue has no answer, or there is no queue
	Hold      *Hold // a living one
}

// Snapshot tells what there is of the lock.
func (l *Lock) Snapshot() LockSnapshot {
	s := l.s
	defer s.Enter(section.MustNotBlock).Leave()
	n := s.find(l)
	if n == nil {
		return LockSnapshot{InFlight: true}
	}
	q := n.Find(&l.Lock, owner.Owner{})
	now := LockSnapshot{Known: true, InFlight: q == nil}
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

// OwnerSnapshot is Snapshot for the owner of a hold: whether a command is under way, how
// many wait for it, and how many holds the server counts whose own lease ended.
func (h *Hold) OwnerSnapshot() (busy bool, queued, stillCounted int) {
	defer h.l.s.Enter(section.MustNotBlock).Leave()
	r := h.st.rare()
	return h.st.busy, len(r.queue), r.stillCounted
}

// acquiresAside tells whether an acquire goes aside, to follow this client's releases there. It
// does not while a ForceUnlock may still run.
func (n *name) acquiresAside() bool { return n.ahead > 0 && n.l.s.forcing == 0 }
