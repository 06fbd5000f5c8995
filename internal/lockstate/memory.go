package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
)

const (
	// repeatedFor is the age up to which an unlock is repeated. Replicas lag by moments. But a
	// former master takes writes for some ten seconds after a Sentinel has promoted another,
	// and a cluster's master that is cut off takes them for its cluster-node-timeout, 15 s by
	// default.
	repeatedFor = 15 * time.Second

	// A shard remembers up to ownPast unlocks. A busy one remembers up to maxPast, while all
	// shards of the client together have at most sharedPast above their ownPast. If more come
	// within repeatedFor, the oldest are dropped. A planned failover undoes about a second's
	// worth.
	ownPast    = 256
	maxPast    = 4096
	sharedPast = 64 * ownPast

	// repeatsAtOnce is how many repetitions a shard has under way at most.
	repeatsAtOnce = 16
)

// pastUnlock is an unlock that a failover may undo.
type pastUnlock struct {
	l      *Lock
	owner  owner.Owner
	latch  any           // nil: it has none; of a change, its receipt
	change *kind.Call    // nil: it is an unlock
	due    bool          // to be sent again
	again  bool          // it was sent again
	sent   time.Duration // when it was sent
	until  time.Duration // not to be sent again after this
	shared time.Duration // nor after this, if others may hold as the owner
	extras *pastExtras   // nil: none
}

// pastExtras are the fields that few unlocks need.
type pastExtras struct {
	keep  *keeping
	place *placeTaken
}

// keeping is who has a lock after its release, and until when. Nobody acts as that owner.
type keeping struct {
	until time.Duration
	by    string
}

// memory is what a shard remembers of its past unlocks. The shard's section guards it.
type memory struct {
	all     []pastUnlock
	oldest  int // the place in all that is used next
	next    int // the place before which nothing in all is due
	repeats int // how many repetitions are under way
}

// add remembers u. It takes the place of the oldest one if that is too old to be repeated, or if
// there is no room for another.
func (m *memory) add(u pastUnlock) {
	if u.due {
		m.next = 0
	}
	if len(m.all) == 0 || u.sent-m.all[m.oldest].sent < repeatedFor && u.l.c.hasRoom(len(m.all)) {
		m.all = append(m.all, u)
		return
	}
	// Once repeated, it keeps its receipt: the repetition may be under way on another
	// connection, and must find it.
	if old := &m.all[m.oldest]; old.change != nil && !old.again {
		old.l.c.Exec.Discard(old.l.Slot, old.latch)
	}
	m.all[m.oldest] = u
	m.oldest = (m.oldest + 1) % len(m.all)
}

// hasRoom tells whether a shard with n unlocks may remember another. Shared room that a shard
// has taken is never given back.
func (c *client) hasRoom(n int) bool {
	switch {
	case n < ownPast:
		return true
	case n >= maxPast || c.pastShared.Load() >= sharedPast:
		return false
	}
	c.pastShared.Add(1)
	return true
}

// each iterates over what is remembered.
func (m *memory) each(yield func(*pastUnlock) bool) {
	for i := range m.all {
		if !yield(&m.all[i]) {
			return
		}
	}
}

// replaced is called when the server of these slots may have been replaced: all that is not too
// old is due.
func (m *memory) replaced(slots topology.Slots, now time.Duration) {
	for u := range m.each {
		u.due = u.due || slots.Has(u.l.Slot) && now-u.sent <= repeatedFor
	}
	m.next = 0
}

// take is the next one to be repeated, which counts as under way from now on; nil: none may be.
func (m *memory) take(now time.Duration) *pastUnlock {
	for m.next < len(m.all) {
		u := &m.all[m.next]
		if u.due && (m.repeats >= repeatsAtOnce || u.l.c.Closed()) {
			return nil
		}
		m.next++
		due := u.due
		u.due = false
		if due && now < u.until {
			u.again = true
			m.repeats++
			return u
		}
	}
	return nil
}

// foundNothing is called when the repetition of the unlock with this latch, or the query before
// it, found no hold to release. The repetition of another unlock may have taken its count,
// without leaving this latch. So where others may hold as its owner, it is not sent again.
func (m *memory) foundNothing(latch any) {
	for u := range m.each {
		if latch != nil && u.latch == latch {
			u.shared = 0
		}
	}
}
