package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// A master answers an unlock and is replaced by another one that lacks it. Then
// nobody holds the lock, and nobody can acquire it until its lease ends. So each
// unlock is remembered for a while, however many replicas acknowledged it: the one
// that is promoted may be newer than their count. When the topology tells of a change
// it is sent again, to whoever serves its slot by then.
// Most of these repetitions find nothing, and nobody hears of them.
//
// No repetition may release another hold, of this owner or of another. So it is
// sent in two cases only:
//
//   - Nobody but this client can hold as the owner (State.Exclusive), and the server
//     counts more holds than this client knows. An owner without holds here needs no
//     question: whatever the server counts was released. This is decided a round trip
//     before it runs. If an owner without a hold is handed over within that time, the
//     other process may lose its hold by that.
//   - Others may hold as the owner, but all replicas had acknowledged the acquire of
//     this very hold, or a renewal since, and that lease has not ended. Then the next master had the hold. It
//     lacks the unlock if it lacks its latch, which is left there for that.
//
// So the unlock of UnlockAs is sent again only where it is for this client's own
// owner, and a ForceUnlock never: it is not known whose hold it would meet. A
// repetition has its place in the owner's command queue (H6).
//
// What a change that is due gives back is remembered with the unlocks, and sent again
// with its receipt: a server that has that counts it once. So it stays until the change is
// forgotten. So does that of an acquire of what nobody owns.

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
	owner  owner.Owner
	latch  any           // nil: it has none. Of a change it is the receipt
	change *kind.Call    // nil: it is an unlock
	due    bool          // to be sent again
	again  bool          // it was
	sent   time.Duration // when it was sent
	until  time.Duration // not to be sent again after this
	shared time.Duration // nor after this, if others may hold as the owner
	keep   *keeping
}

// remember keeps the release, which was answered, if a failover may undo it. It is
// called with the shard locked.
func (r *releasing) remember(q *command.Request, did codec.Release) {
	u := pastUnlock{l: r.l, owner: r.st.owner, latch: r.want.Latch, sent: q.Wire.Sent, until: r.req.Until, keep: r.keep}
	switch {
	case r.Why == release.Repeat && did == codec.NotHeld:
		r.st.n.l.s.foundNothing(u.latch)
		return
	case r.SentAgain() || r.Form == release.Latched && u.latch == nil:
		return // it is remembered, or is nothing to be sent twice
	}
	if u.latch != nil {
		u.until = min(u.until, q.First+r.l.c.UnlockFor)
		if did != codec.NotHeld {
			u.shared = min(u.until, r.everywhere)
		}
	}
	r.kept = u.shared > 0
	u.due = q.ServedElsewhere()
	r.st.n.l.s.addPast(u)
}

// rememberChange is releasing.remember of a change, by its receipt.
func (l *Lock) rememberChange(r *command.Request, receipt any) {
	call := kind.Call{Name: r.Wire.Command, Script: r.Wire.Script, Args: r.Wire.Args, Resend: r.Resend, Writes: true}
	defer l.s.enter(mustNotBlock).leave()
	l.s.addPast(pastUnlock{l: l, latch: receipt, change: &call, sent: r.Wire.Sent, until: r.Until, due: r.ServedElsewhere()})
}

// rememberTaken is releasing.remember of what the waiter has taken and nobody owns. Its
// release is sent again: on a server that lacks both, that alone would make more of what
// there is to take.
func (w *Waiter) rememberTaken() {
	c, l := w.l.c, w.l
	defer l.s.enter(mayBlock).leave()
	want := kind.Want{Names: &l.Names, Latch: kind.Receipt(&l.Names, w.owner), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	call := kind.TakeAgain(l.Kind, &want)
	l.s.addPast(pastUnlock{
		l: l, latch: want.Latch, change: &call, sent: w.takenAt, until: w.takenAt + c.ChangeFor, due: c.newMaster(l.Slot, w.takenAt),
	})
}

// addPast remembers u, in the place of one that is too old to be sent again, if
// there is one. What is due is sent.
func (s *shard) addPast(u pastUnlock) {
	if u.due {
		s.nextDue = 0
		defer s.repeatDue()
	}
	if len(s.past) == 0 || u.sent-s.past[s.oldest].sent < repeatedFor && u.l.c.hasRoom(len(s.past)) {
		s.past = append(s.past, u)
		return
	}
	// A repetition may be under way, on another connection: it must find its receipt.
	if old := &s.past[s.oldest]; old.change != nil && !old.again {
		old.l.c.Exec.Discard(old.l.Slot, old.latch)
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
			u.due = u.due || slots.Has(u.l.Slot) && sec.now()-u.sent <= repeatedFor
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
			u.again = true
			s.repeat(*u)
		}
	}
}

// repeat sends an unlock again, or a change.
func (s *shard) repeat(u pastUnlock) {
	s.repeats++
	ended := func() {
		s.repeats--
		s.repeatDue()
	}
	if u.change != nil {
		c := u.l.c
		c.Work.Add()
		u.l.askLater(*u.change, u.until, func(_ any, err error) { // its receipt stays with the first
			if err != nil && !c.Closed() {
				c.Log.NotDone(&s.sec, eventlog.Lock{Name: u.l.Name()}, err)
			}
			ended()
			c.Work.Done()
		})
		return
	}
	n := s.pin(u.l)
	defer n.unpin()
	st := n.ensureOwnerState(u.owner)
	st.marked = st.marked || u.latch != nil
	r := st.newRelease(release.Repeat, u.l, u.until)
	r.want.Latch, r.everywhere, r.keep = u.latch, u.shared, u.keep
	r.then = func(error) { ended() }
	st.run(r)
}

// foundNothing has the unlock with this latch not sent again where others may hold as
// its owner: another one's repetition has taken its count, and it left no latch. Its
// own found that, or the question before it.
func (s *shard) foundNothing(latch any) {
	for i := range s.past {
		if u := &s.past[i]; latch != nil && u.latch == latch {
			u.shared = 0
		}
	}
}

// known is how many holds of the owner the server counts, as far as is known here.
func (st *OwnerState) known(l *core.Lock) int64 {
	return int64(st.tally(l)+st.unsent(l)) + int64(st.rare().stillCounted)
}

// mayMeetAnother tells whether a repetition could release another hold than its own.
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
	return watchdog.Trust(since, h.l.c.Watchdog)
}
