package state

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
)

const (
	// RepeatedFor is the age up to which an unlock is repeated. Replicas lag by moments. But a
	// former master takes writes for some ten seconds after a Sentinel has promoted another,
	// and a cluster's master that is cut off takes them for its cluster-node-timeout, 15 s by
	// default.
	RepeatedFor = 15 * time.Second

	// A shard remembers up to ownPast unlocks. A busy one remembers up to maxPast, while all
	// shards of the client together have at most sharedPast above their ownPast. If more come
	// within RepeatedFor, the oldest are dropped. A planned failover undoes about a second's
	// worth.
	ownPast    = 256
	maxPast    = 4096
	sharedPast = 64 * ownPast

	// RepeatsAtOnce is how many repetitions a shard has under way at most.
	RepeatsAtOnce = 16
)

// Past is an unlock that a failover may undo.
type Past struct {
	Lock   *Lock
	Owner  owner.Owner
	Latch  any           // nil: it has none; of a change, its receipt
	Change *kind.Call    // nil: it is an unlock
	Due    bool          // to be sent again
	again  bool          // it was sent again
	Sent   time.Duration // when it was sent
	Until  time.Duration // not to be sent again after this
	Shared time.Duration // nor after this, if others may hold as the owner
	Extras *PastExtras   // nil: none
}

// PastExtras are the fields that few unlocks need.
type PastExtras struct {
	Keep  *Keeping
	Place *PlaceTaken
}

// Keeping is who has a lock after its release, and until when. Nobody acts as that owner.
type Keeping struct {
	Until time.Duration
	By    string
}

// Memory is what a shard remembers of its past unlocks. The shard's section guards it.
type Memory struct {
	all     []Past
	oldest  int // the place in all that is used next
	next    int // the place before which nothing in all is due
	Repeats int // how many repetitions are under way
}

// Add remembers u. It takes the place of the oldest one if that is too old to be repeated, or if
// there is no room for another.
func (m *Memory) Add(u Past) {
	if u.Due {
		m.next = 0
	}
	if len(m.all) == 0 || u.Sent-m.all[m.oldest].Sent < RepeatedFor && u.Lock.Client.hasRoom(len(m.all)) {
		if m.oldest > 0 { // the newest is the last one again
			m.all, m.oldest, m.next = slices.Concat(m.all[m.oldest:], m.all[:m.oldest]), 0, 0
		}
		m.all = append(m.all, u)
		return
	}
	// Once repeated, it keeps its receipt: the repetition may be under way on another
	// connection, and must find it.
	if old := &m.all[m.oldest]; old.Change != nil && !old.again {
		old.Lock.Client.Exec.Discard(old.Lock.Slot, old.Latch)
	}
	m.all[m.oldest] = u
	m.oldest = (m.oldest + 1) % len(m.all)
}

// hasRoom tells whether a shard with n unlocks may remember another. Shared room that a shard
// has taken is never given back.
func (c *Client) hasRoom(n int) bool {
	switch {
	case n < ownPast:
		return true
	case n >= maxPast || c.pastShared.Load() >= sharedPast:
		return false
	}
	c.pastShared.Add(1)
	return true
}

// Each iterates over what is remembered.
func (m *Memory) Each(yield func(*Past) bool) {
	for i := range m.all {
		if !yield(&m.all[i]) {
			return
		}
	}
}

// Replaced is called when the server of these slots may have been replaced: all that is not too
// old is due.
func (m *Memory) Replaced(slots topology.Slots, now time.Duration) {
	for u := range m.Each {
		u.Due = u.Due || slots.Has(u.Lock.Slot) && now-u.Sent <= RepeatedFor
	}
	m.next = 0
}

// Take is the next one to be repeated, which counts as under way from now on; nil: none may be.
func (m *Memory) Take(now time.Duration) *Past {
	for m.next < len(m.all) {
		u := &m.all[m.next]
		if u.Due && (m.Repeats >= RepeatsAtOnce || u.Lock.Client.Closed()) {
			return nil
		}
		m.next++
		due := u.Due
		u.Due = false
		if due && now < u.Until {
			u.again = true
			m.Repeats++
			return u
		}
	}
	return nil
}

// FoundNothing is called when the repetition of the unlock with this latch, or the query before
// it, found no hold to release. The repetition of another unlock may have taken its count,
// without leaving this latch. So where others may hold as its owner, it is not sent again.
func (m *Memory) FoundNothing(latch any) {
	for u := range m.Each {
		if latch != nil && u.Latch == latch {
			u.Shared = 0
		}
	}
}
