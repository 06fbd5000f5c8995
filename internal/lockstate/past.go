package lockstate

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/change"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// A master may answer an unlock and then be replaced by one that lacks it. Then nobody holds
// the lock, but nobody can acquire it until its lease ends. So each unlock is remembered for a
// while, even if replicas acknowledged it: the promoted one may have connected after they were
// counted. When the topology reports a change, the unlock is sent again, to the node that
// serves its slot by then. Most of these repetitions find nothing, and are not reported.
//
// No repetition may release another hold, of this owner or of another. So an unlock is repeated
// in two cases only:
//
//   - Only this client can hold as the owner (State.Exclusive), and the server counts more
//     holds than this client knows. For an owner without holds here the server is not asked:
//     whatever it counts was released. This is decided a round trip before the unlock runs. If
//     an owner without holds is handed to another process within that time, that process may
//     lose its hold.
//   - Others may hold as the owner, but all replicas acknowledged the acquire of this very
//     hold, or a later renewal, and that lease has not ended. Then the new master has the hold.
//     If it lacks the latch of the unlock, it lacks the unlock. The latch is left on the server
//     for that purpose.
//
// So an UnlockAs is repeated only if no other client can hold as its owner. A ForceUnlock is
// never repeated: it is not known whose hold it would meet. A repetition has its place in the
// owner's command queue (H6).
//
// A due change (package change) is remembered with the unlocks, and repeated with its receipt:
// a server that has the receipt does not count the change twice. So the receipt is kept until
// the change is forgotten. An acquire of what nobody owns is repeated in the same way.

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

// remember keeps the release, which was answered, if a failover may undo it. It is
// called with the shard locked.
func (r *releasing) remember(q *command.Request, did codec.Release) {
	u := pastUnlock{l: r.l, owner: r.st.owner, latch: r.want.Latch, sent: q.Wire.Sent, until: r.req.Until}
	if r.keep != nil || r.place != nil {
		u.extras = &pastExtras{r.keep, r.place}
	}
	switch {
	case r.Why == release.Repeat && did == codec.NotHeld:
		r.st.n.l.s.foundNothing(u.latch)
		return
	case r.SentAgain() || r.Form == release.Latched && u.latch == nil:
		return // it is remembered already, or must not be sent twice
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

// rememberChange remembers a due change that was answered, with its receipt.
func (l *Lock) rememberChange(r *command.Request, receipt any) {
	call := kind.Call{Name: r.Wire.Command, Script: r.Wire.Script, Args: r.Wire.Args, Resend: r.Resend, Writes: true}
	defer l.s.Enter(section.MustNotBlock).Leave()
	l.s.addPast(pastUnlock{l: l, latch: receipt, change: &call, sent: r.Wire.Sent, until: r.Until, due: r.ServedElsewhere()})
}

// rememberTaken remembers the acquire of what the waiter has taken and nobody owns. Its release
// is repeated after a failover, so the acquire must be too: on a server that lacks both, the
// release alone would add to what there is to take.
func (w *Waiter) rememberTaken() {
	c, l := w.l.c, w.l
	defer l.s.Enter(section.MayBlock).Leave()
	want := kind.Want{Names: &l.Names, Latch: kind.Receipt(&l.Names, w.owner), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	call := kind.TakeAgain(l.Kind, &want)
	l.s.addPast(pastUnlock{
		l: l, latch: want.Latch, change: &call, sent: w.takenAt, until: w.takenAt + c.ChangeFor, due: c.newMaster(l.Slot, w.takenAt),
	})
}

// addPast remembers u. It takes the place of the oldest one if that is too old to be repeated,
// or if there is no room for another. What is due is sent.
func (s *shard) addPast(u pastUnlock) {
	if u.due {
		s.nextDue = 0
		defer s.repeatDue()
	}
	if len(s.past) == 0 || u.sent-s.past[s.oldest].sent < repeatedFor && u.l.c.hasRoom(len(s.past)) {
		s.past = append(s.past, u)
		return
	}
	// Once repeated, it keeps its receipt: the repetition may be under way on another
	// connection, and must find it.
	if old := &s.past[s.oldest]; old.change != nil && !old.again {
		old.l.c.Exec.Discard(old.l.Slot, old.latch)
	}
	s.past[s.oldest] = u
	s.oldest = (s.oldest + 1) % len(s.past)
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

// repeatUnlocks sends the unlocks of these slots again, since the server that ran
// them may have been replaced.
func (c *client) repeatUnlocks(slots topology.Slots) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.Enter(section.MustNotBlock)
		for j := range s.past {
			u := &s.past[j]
			u.due = u.due || slots.Has(u.l.Slot) && sec.Now()-u.sent <= repeatedFor
		}
		s.nextDue = 0
		s.repeatDue()
		sec.Leave()
	}
}

// repeatDue sends what is due, at most repeatsAtOnce at a time. It is called with the shard
// locked.
func (s *shard) repeatDue() {
	for s.nextDue < len(s.past) {
		u := &s.past[s.nextDue]
		if u.due && (s.repeats >= repeatsAtOnce || u.l.c.Closed()) {
			return
		}
		s.nextDue++ // before the repetition: that may end at once, and call repeatDue
		due := u.due
		u.due = false
		if due && s.Now() < u.until {
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
		s.AskLater(&c.Client, u.l.Slot, *u.change, u.until, func(_ any, err error) { // the remembered change keeps the receipt
			if err != nil && !c.Closed() {
				c.Log.NotDone(s, eventlog.Lock{Name: u.l.Name()}, err)
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
	r.want.Latch, r.everywhere = u.latch, u.shared
	if u.extras != nil {
		r.keep, r.place = u.extras.keep, u.extras.place
	}
	r.then = func(error) { ended() }
	st.run(r)
}

// foundNothing is called when the repetition of the unlock with this latch, or the query before
// it, found no hold to release. The repetition of another unlock may have taken its count,
// without leaving this latch. So where others may hold as its owner, it is not sent again.
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

// Change is change.Do. A change that is due is remembered if a failover may undo it.
func (l *Lock) Change(ctx context.Context, due bool, call func(*kind.Want) kind.Call) (any, error) {
	var keep func(*command.Request, any)
	if due && l.c.FailsOver {
		keep = l.rememberChange
	}
	return change.Do(ctx, &l.Lock, due, call, keep)
}
