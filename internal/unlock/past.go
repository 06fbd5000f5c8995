package unlock

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
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/topology"
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
//   - Only this client can hold as the owner (Client.Exclusive), and the server counts more
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

// remember keeps the release, which was answered, if a failover may undo it. It is
// called with the shard locked.
func (r *releasing) remember(q *command.Request, did codec.Release) {
	u := state.Past{Lock: r.l, Owner: r.st.Owner, Latch: r.want.Latch, Sent: q.Wire.Sent, Until: r.req.Until}
	if r.keep != nil || r.place != nil {
		u.Extras = &state.PastExtras{Keep: r.keep, Place: r.place}
	}
	switch {
	case r.Why == release.Repeat && did == codec.NotHeld:
		r.st.Name.Lock.Shard.Past.FoundNothing(u.Latch)
		return
	case r.SentAgain() || r.Form == release.Latched && u.Latch == nil:
		return // it is remembered already, or must not be sent twice
	}
	if u.Latch != nil {
		u.Until = min(u.Until, q.First+r.l.Client.UnlockFor)
		if did != codec.NotHeld {
			u.Shared = min(u.Until, r.everywhere)
		}
	}
	r.kept = u.Shared > 0
	u.Due = q.ServedElsewhere()
	addPast(r.st.Name.Lock.Shard, u)
}

// rememberChange remembers a due change that was answered, with its receipt.
func rememberChange(l *state.Lock, r *command.Request, receipt any) {
	call := kind.Call{Name: r.Wire.Command, Script: r.Wire.Script, Args: r.Wire.Args, Resend: r.Resend, Writes: true}
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	addPast(l.Shard, state.Past{Lock: l, Latch: receipt, Change: &call, Sent: r.Wire.Sent, Until: r.Until, Due: r.ServedElsewhere()})
}

// RememberTaken remembers the acquire, sent at, of what nobody owns. Its release
// is repeated after a failover, so the acquire must be too: on a server that lacks both, the
// release alone would add to what there is to take.
func RememberTaken(l *state.Lock, by owner.Owner, at time.Duration) {
	c := l.Client
	defer l.Shard.Enter(section.MayBlock).Leave()
	want := kind.Want{Names: &l.Names, Latch: kind.Receipt(&l.Names, by), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	call := kind.TakeAgain(l.Kind, &want)
	addPast(l.Shard, state.Past{
		Lock: l, Latch: want.Latch, Change: &call, Sent: at, Until: at + c.ChangeFor, Due: c.NewMaster(l.Slot, at),
	})
}

// addPast remembers u. What is due is sent.
func addPast(s *state.Shard, u state.Past) {
	if s.Past.Add(u); u.Due {
		repeatDue(s)
	}
}

// RepeatPast sends the unlocks of these slots again, since the server that ran
// them may have been replaced.
func RepeatPast(c *state.Client, slots topology.Slots) {
	for i := range c.Shards {
		s := &c.Shards[i]
		sec := s.Enter(section.MustNotBlock)
		s.Past.Replaced(slots, sec.Now())
		repeatDue(s)
		sec.Leave()
	}
}

// repeatDue sends what is due. It is called with the shard locked.
func repeatDue(s *state.Shard) {
	for u := s.Past.Take(s.Now()); u != nil; u = s.Past.Take(s.Now()) {
		repeat(s, *u)
	}
}

// repeat sends an unlock again, or a change.
func repeat(s *state.Shard, u state.Past) {
	ended := func() {
		s.Past.Repeats--
		repeatDue(s)
	}
	if u.Change != nil {
		c := u.Lock.Client
		c.Work.Add()
		s.AskLater(&c.Client, u.Lock.Slot, *u.Change, u.Until, func(_ any, err error) { // the remembered change keeps the receipt
			if err != nil && !c.Closed() {
				c.Log.NotDone(s, eventlog.Lock{Name: u.Lock.Name()}, err)
			}
			ended()
			c.Work.Done()
		})
		return
	}
	n := s.Pin(u.Lock)
	defer n.Unpin()
	st := n.EnsureOwnerState(u.Owner)
	st.Marked = st.Marked || u.Latch != nil
	r := newRelease(st, release.Repeat, u.Lock, u.Until)
	r.want.Latch, r.everywhere = u.Latch, u.Shared
	if u.Extras != nil {
		r.keep, r.place = u.Extras.Keep, u.Extras.Place
	}
	r.then = func(error) { ended() }
	st.Run(r)
}

// known is how many holds of the owner the server counts, as far as is known here.
func known(st *state.OwnerState, l *core.Lock) int64 {
	return int64(st.Tally(l)+Unsent(st, l)) + int64(st.Rare().StillCounted)
}

// mayMeetAnother tells whether a repetition could release another hold than its own.
func (r *releasing) mayMeetAnother() bool {
	return !r.l.Client.Exclusive(r.st.Owner) && r.st.Name.Now() >= r.everywhere
}

// Change is change.Do. A change that is due is remembered if a failover may undo it.
func Change(ctx context.Context, l *state.Lock, due bool, call func(*kind.Want) kind.Call) (any, error) {
	var keep func(*command.Request, any)
	if due && l.Client.FailsOver {
		keep = func(r *command.Request, receipt any) { rememberChange(l, r, receipt) }
	}
	return change.Do(ctx, &l.Lock, due, call, keep)
}
