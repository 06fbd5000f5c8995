package state

import (
	"time"

	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/waiting"
)

// shardCount is how many shards a client has.
const shardCount = 64

// Shard guards the client's state of a part of the names. One mutex covers a
// name's queue, its owners and their holds, so that a grant, a wake-up and a
// cancellation at the same time have one order. Requests are queued with the
// mutex held, which does no I/O. Only a section takes the mutex.
type Shard struct {
	section.Section // guards what follows

	names   map[nameKey]*Name
	waiting waiting.Shard
	Forcing int    // number of ForceUnlocks that may still run, of any name
	Past    Memory // what a failover may undo, of all names
}

// init makes the zero shard ready.
func (s *Shard) init(c *Client) {
	s.names = map[nameKey]*Name{}
	s.Init(c.Clock, c.Exec)
	s.waiting.Init(&c.Waits, &s.Section)
}

// nameKey is a key and a family of kinds.
type nameKey struct{ key, family string }

// Name is the client's state of one key and one family of kinds: its waiters and
// its owners. It exists as long as there is one of either. There may be a
// hundred thousand names that are held and never waited for, so it is small.
type Name struct {
	waiting.Line
	Lock *Lock // a handle, for its key, its family and its shard

	// Everything below is guarded by the shard's section. What never changes is in the handle,
	// since names come and go with each acquisition.
	States    *OwnerState                 // a list in no order; most of the time it has one element
	index     map[owner.Owner]*OwnerState // of all states; nil while they are few
	Forces    int16                       // how many times ForceUnlock was queued for it
	Ahead     int16                       // releases that went aside and have no answer yet: acquires follow them
	Pins      int32                       // calls under way that keep this name
	Holders   int32                       // owners with a living hold
	Exclusive int32                       // living holds of kinds of width 1
}

// Waiting is what the names of the shard share.
func (n *Name) Waiting() *waiting.Shard { return &n.Lock.Shard.waiting }

// Now is the time of the section that is in progress.
func (n *Name) Now() time.Duration { return n.Lock.Shard.Now() }

// Find is the state of l's key and family, or nil. It is called with the shard locked.
func (s *Shard) Find(l *Lock) *Name { return s.names[l.nameKey()] }

// OwnerState is the state of an owner of the lock, or nil. It is called with the shard locked.
func (l *Lock) OwnerState(o owner.Owner) *OwnerState {
	if n := l.Shard.Find(l); n != nil {
		return n.FindOwnerState(o)
	}
	return nil
}

// EachName calls fn for each name of the shard, in a section.
func (s *Shard) EachName(fn func(*Name)) {
	defer s.Enter(section.MustNotBlock).Leave()
	for _, n := range s.names {
		fn(n) // which may drop it
	}
}

// Ensure finds or makes the name's state. The caller must give it a waiter or an owner at once,
// or else use Pin. It is called with the shard locked.
func (s *Shard) Ensure(l *Lock) *Name {
	n := s.Find(l)
	if n == nil {
		n = &Name{Lock: l}
		n.Line.Init(n, l.Key())
		s.names[l.nameKey()] = n
	}
	return n
}

// Pin is Ensure for a name whose state is kept until Unpin. It is called with the shard
// locked.
func (s *Shard) Pin(l *Lock) *Name {
	n := s.Ensure(l)
	n.Pins++
	return n
}

// PinKey pins the names of all families that have l's key: first l's, which it makes if there is
// none. It is called with the shard locked.
func (s *Shard) PinKey(l *Lock) []*Name {
	all := []*Name{s.Pin(l)}
	for at, n := range s.names {
		if at.key == l.Key() && n != all[0] {
			n.Pins++
			all = append(all, n)
		}
	}
	return all
}

// Unpin ends what Pin began. It is called with the shard locked.
func (n *Name) Unpin() {
	n.Pins--
	n.DropIfIdle()
}

// DropIfIdle drops the name if nobody waits or holds.
func (n *Name) DropIfIdle() {
	if n.Pins == 0 && n.States == nil && n.Empty() {
		delete(n.Lock.Shard.names, n.Lock.nameKey())
	}
}

// The owners of a name are a list, since there is mostly one. If many try for one name, they
// get an index, so that the cost of a call does not grow with their number.

// indexFrom is how many owners a search goes through before it makes an index of them. The
// index is dropped when fewer than half as many are left.
const indexFrom = 32

// FindOwnerState is the owner's state, or nil.
func (n *Name) FindOwnerState(o owner.Owner) *OwnerState {
	if n.index != nil {
		return n.index[o]
	}
	st := n.States
	for range indexFrom {
		if st == nil || st.Owner == o {
			return st
		}
		st = st.next
	}
	n.index = map[owner.Owner]*OwnerState{}
	for st = n.States; st != nil; st = st.next {
		n.index[st.Owner] = st
	}
	return n.index[o]
}

// Holds tells whether the owner has a living hold.
func (n *Name) Holds(o owner.Owner) bool {
	st := n.FindOwnerState(o)
	return st != nil && st.Held > 0
}

// EnsureOwnerState finds or makes the owner's state.
func (n *Name) EnsureOwnerState(o owner.Owner) *OwnerState {
	if st := n.FindOwnerState(o); st != nil {
		return st
	}
	return n.NewOwnerState(o)
}

// LivingHolds iterates over the living holds of the name.
func (n *Name) LivingHolds(yield func(*Hold) bool) {
	for st := n.States; st != nil; st = st.next {
		for h := st.holds; h != nil; h = h.next {
			if !yield(h) {
				return
			}
		}
	}
}

// OwnerStates are the states of all owners of the name.
func (n *Name) OwnerStates() []*OwnerState {
	var states []*OwnerState
	for st := n.States; st != nil; st = st.next {
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
	s := l.Shard
	defer s.Enter(section.MustNotBlock).Leave()
	n := s.Find(l)
	if n == nil {
		return LockSnapshot{InFlight: true}
	}
	q := n.Find(&l.Lock, owner.Owner{})
	now := LockSnapshot{Known: true, InFlight: q == nil}
	if n.States != nil {
		now.Hold = n.States.holds
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
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	return h.State.Busy, len(h.State.Rare().Queue)
}

// AcquiresAside tells whether an acquire goes aside, to follow this client's releases there. It
// does not while a ForceUnlock may still run.
func (n *Name) AcquiresAside() bool { return n.Ahead > 0 && n.Lock.Shard.Forcing == 0 }
