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

// remember keeps the release, which was answered, if a failover may undo it. It is
// called with the shard locked.
func (r *releasing) remember(q *command.Request, did codec.Release) {
	u := pastUnlock{l: r.l, owner: r.st.owner, latch: r.want.Latch, sent: q.Wire.Sent, until: r.req.Until}
	if r.keep != nil || r.place != nil {
		u.extras = &pastExtras{r.keep, r.place}
	}
	switch {
	case r.Why == release.Repeat && did == codec.NotHeld:
		r.st.n.l.s.past.foundNothing(u.latch)
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

// rememberTaken remembers the acquire, sent at, of what nobody owns. Its release
// is repeated after a failover, so the acquire must be too: on a server that lacks both, the
// release alone would add to what there is to take.
func (l *Lock) rememberTaken(by owner.Owner, at time.Duration) {
	c := l.c
	defer l.s.Enter(section.MayBlock).Leave()
	want := kind.Want{Names: &l.Names, Latch: kind.Receipt(&l.Names, by), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	call := kind.TakeAgain(l.Kind, &want)
	l.s.addPast(pastUnlock{
		l: l, latch: want.Latch, change: &call, sent: at, until: at + c.ChangeFor, due: c.newMaster(l.Slot, at),
	})
}

// addPast remembers u. What is due is sent.
func (s *shard) addPast(u pastUnlock) {
	if s.past.add(u); u.due {
		s.repeatDue()
	}
}

// repeatUnlocks sends the unlocks of these slots again, since the server that ran
// them may have been replaced.
func (c *client) repeatUnlocks(slots topology.Slots) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.Enter(section.MustNotBlock)
		s.past.replaced(slots, sec.Now())
		s.repeatDue()
		sec.Leave()
	}
}

// repeatDue sends what is due. It is called with the shard locked.
func (s *shard) repeatDue() {
	for u := s.past.take(s.Now()); u != nil; u = s.past.take(s.Now()) {
		s.repeat(*u)
	}
}

// repeat sends an unlock again, or a change.
func (s *shard) repeat(u pastUnlock) {
	ended := func() {
		s.past.repeats--
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

// known is how many holds of the owner the server counts, as far as is known here.
func (st *OwnerState) known(l *core.Lock) int64 {
	return int64(st.tally(l)+st.unsent(l)) + int64(st.rare().stillCounted)
}

// mayMeetAnother tells whether a repetition could release another hold than its own.
func (r *releasing) mayMeetAnother() bool {
	return !r.l.c.Exclusive(r.st.owner) && r.st.n.now() >= r.everywhere
}

// Change is change.Do. A change that is due is remembered if a failover may undo it.
func (l *Lock) Change(ctx context.Context, due bool, call func(*kind.Want) kind.Call) (any, error) {
	var keep func(*command.Request, any)
	if due && l.c.FailsOver {
		keep = l.rememberChange
	}
	return change.Do(ctx, &l.Lock, due, call, keep)
}
