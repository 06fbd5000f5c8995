package lockstate

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// follow acts on what the topology tells, until that is closed.
func (c *State) follow() {
	for changes := range c.top.Changes() {
		for _, change := range changes {
			c.changed(change)
		}
	}
}

// changed has the leases of the slots renewed at once, which tells what is lost,
// sends unlocks again that may have been lost, and has those who wait listen where their releases are told now, and look
// again.
func (c *State) changed(change topology.Change) {
	if change.NewMaster {
		c.noteMaster(change.Slots)
	}
	c.nodeChanged(change)
	c.watchdog.RenewThose(func(h watchdog.Holder) bool { return change.Slots.Has(slotOf(h)) })
	c.repeatUnlocks(change.Slots)
	if change.From == change.To {
		return // the hub follows by itself
	}
	c.eachName(func(n *name) {
		if change.Slots.Has(n.l.slot) {
			for q := n.first(); q != nil; q = q.next {
				q.resubscribe()
			}
		}
	})
}

// masterChange is a change of the master of some slots.
type masterChange struct {
	slots topology.Slots
	at    time.Duration
}

// masterChanges is how many of the latest are remembered, to explain a loss by.
const masterChanges = 16

// noteMaster remembers that slots have another master. It is for one goroutine.
func (c *State) noteMaster(slots topology.Slots) {
	var known []masterChange
	if last := c.masters.Load(); last != nil {
		known = (*last)[max(0, len(*last)-masterChanges+1):]
	}
	known = append(slices.Clip(known), masterChange{slots, c.now()})
	c.masters.Store(&known)
}

// newMaster tells whether slot has had another master since then.
func (c *State) newMaster(slot uint16, since time.Duration) bool {
	known := c.masters.Load()
	return known != nil && slices.ContainsFunc(*known, func(m masterChange) bool { return m.at >= since && m.slots.Has(slot) })
}

// A master answers an unlock and is replaced by another one that lacks it. Then
// nobody holds the lock, and nobody can acquire it until its lease ends. So an
// unlock that not all replicas acknowledged is remembered for a while. When the
// topology tells of a change it is sent again, to whoever serves its slot by then.
// Most of these repetitions find nothing, and nobody hears of them.
//
// No repetition may release another hold, of this owner or of another. So it is
// sent in two cases only:
//
//   - Nobody but this client can hold as the owner (State.Exclusive), and the
//     server counts more holds than this client knows. An owner without holds here
//     needs no question: whatever the server counts was released. This is decided a
//     round trip before it runs. Who hands an owner over without a hold within that
//     time may lose the other's hold by it.
//   - Others may hold as the owner, but all replicas had acknowledged the acquire of
//     this very hold, or a renewal since, and that lease has not ended. Then the next master had the hold. It
//     lacks the unlock if it lacks its latch, which is left there for that.
//
// So the unlock of UnlockAs is sent again only where it is for this client's own
// owner, and a ForceUnlock never: it is not known whose hold it would meet. A
// repetition has its place in the owner's command queue (H6).

const (
	// repeatedFor is how old an unlock may be that is sent again. Replicas lag by
	// moments. But a former master takes writes for some ten seconds after a
	// Sentinel has promoted another, and a cluster's master that is cut off does
	// for its cluster-node-timeout, 15 s by default.
	repeatedFor = 15 * time.Second

	// A shard remembers up to ownPast unlocks, and a busy one up to maxPast, as long
	// as all of a client have no more than sharedPast beyond the first. With more in
	// repeatedFor, the oldest fall out. A planned failover undoes about a second's.
	ownPast    = 256
	maxPast    = 4096
	sharedPast = 64 * ownPast

	// repeatsAtOnce is how many repetitions of a shard are under way at most.
	repeatsAtOnce = 16
)

// pastUnlock is an unlock that a failover may undo.
type pastUnlock struct {
	l      *Lock
	owner  Owner
	latch  any           // nil: it has none
	due    bool          // to be sent again
	sent   time.Duration // when it was sent
	until  time.Duration // not to be sent again after this
	shared time.Duration // nor after this, if others may hold as the owner
}

// remember keeps the release, which was answered, if a failover may undo it. It is
// called with the shard locked.
func (r *releasing) remember(q *command.Request, did codec.Release) {
	u := pastUnlock{l: r.l, owner: r.st.owner, latch: r.want.Latch, sent: q.Wire.Sent, until: r.req.Until}
	switch {
	case r.Why == release.Repeat && did == codec.NotHeld:
		r.st.n.l.s.foundNothing(u.latch)
		return
	case q.Wire.Replicas > 0 && q.Wire.Acked >= q.Wire.Replicas:
		return
	case r.SentAgain() || r.Form == release.Latched && u.latch == nil:
		return // it is remembered, or is nothing to be sent twice
	}
	if u.latch != nil {
		u.until = min(u.until, q.First+r.l.c.unlockFor)
		if did != codec.NotHeld {
			u.shared = min(u.until, r.everywhere)
		}
	}
	r.kept = u.shared > 0
	u.due = q.ServedElsewhere()
	s := r.st.n.l.s
	s.addPast(u)
	if u.due {
		s.nextDue = 0
		s.repeatDue()
	}
}

// addPast remembers u, in the place of one that is too old to be sent again, if
// there is one.
func (s *shard) addPast(u pastUnlock) {
	if len(s.past) == 0 || u.sent-s.past[s.oldest].sent < repeatedFor && u.l.c.hasRoom(len(s.past)) {
		s.past = append(s.past, u)
		return
	}
	s.past[s.oldest] = u
	s.oldest = (s.oldest + 1) % len(s.past)
}

// hasRoom tells whether a shard with n unlocks may have another. What it gets of the
// shared room it keeps.
func (c *State) hasRoom(n int) bool {
	switch {
	case n < ownPast:
		return true
	case n >= maxPast || c.pastShared.Load() >= sharedPast:
		return false
	}
	c.pastShared.Add(1)
	return true
}

// repeatUnlocks sends the unlocks of these slots again, since the server that ran
// them may have been replaced.
func (c *State) repeatUnlocks(slots topology.Slots) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.enter(mustNotBlock)
		for j := range s.past {
			u := &s.past[j]
			u.due = u.due || slots.Has(u.l.slot) && sec.now()-u.sent <= repeatedFor
		}
		s.nextDue = 0
		s.repeatDue()
		sec.leave()
	}
}

// repeatDue sends what is due, some at a time. It is called with the shard locked.
func (s *shard) repeatDue() {
	for s.nextDue < len(s.past) {
		u := &s.past[s.nextDue]
		if u.due && (s.repeats >= repeatsAtOnce || u.l.c.Closed()) {
			return
		}
		s.nextDue++ // first: a repetition may end at once, and call this
		due := u.due
		u.due = false
		if due && s.sec.now() < u.until {
			s.repeat(*u)
		}
	}
}

// repeat sends an unlock again.
func (s *shard) repeat(u pastUnlock) {
	n := s.pin(u.l)
	defer n.unpin()
	st := n.ensureOwnerState(u.owner)
	st.marked = st.marked || u.latch != nil
	r := st.newRelease(release.Repeat, u.l, u.until)
	r.want.Latch, r.everywhere = u.latch, u.shared
	s.repeats++
	r.then = func(error) {
		s.repeats--
		s.repeatDue()
	}
	st.run(r)
}

// foundNothing has the unlock with this latch not sent again where others may hold as
// its owner: another one's repetition has taken its count, and it left no latch.
func (s *shard) foundNothing(latch any) {
	for i := range s.past {
		if u := &s.past[i]; latch != nil && u.latch == latch {
			u.shared = 0
		}
	}
}

// known is how many holds of the owner the server counts, as far as is known here.
func (st *OwnerState) known(l *Lock) int64 {
	return int64(st.tally(l)+st.unsent(l)) + int64(st.rare().stillCounted)
}

// mayMeetAnother tells of a repetition that it could release another hold than the
// one that it is of.
func (r *releasing) mayMeetAnother() bool {
	return !r.l.c.Exclusive(r.st.owner) && r.st.n.now() >= r.everywhere
}

// heldEverywhere is until when every replica has the hold, by what they acknowledged;
// 0 if that is not known.
func (h *Hold) heldEverywhere() time.Duration {
	since := h.since
	switch renewed := h.st.rare().everywhere; {
	case !h.promise.Fixed && renewed > since:
		since = renewed
	case !h.everywhere:
		return 0
	case h.promise.Fixed:
		return watchdog.Trust(since, h.promise.Until-since)
	}
	return watchdog.Trust(since, h.l.c.o.Watchdog)
}
