package unlock

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/change"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
)

// A due change (package change) is remembered as an unlock is, and repeated with its receipt: a
// server that has the receipt does not count the change twice. So the receipt is kept until the
// change is forgotten. An acquire of what nobody owns is repeated in the same way.
//
// A server that came back empty has no receipt either, and perhaps an object of the same name
// that was made since. So the repetition says how the object is known that was changed, and does
// nothing if there is another one or none (kind.Repeated). The ids of permits are their own
// proof.

// Change is change.Do. A change that is due is remembered if a failover may undo it.
func Change(ctx context.Context, l *state.Lock, due bool, call func(*kind.Want) kind.Call) (any, error) {
	var keep func(*command.Request, any) bool
	if due && l.Client.FailsOver {
		keep = func(r *command.Request, receipt any) bool { return rememberChange(l, r, receipt) }
	}
	return change.Do(ctx, &l.Lock, due, call, keep)
}

// rememberChange remembers a due change that was answered, with its receipt. It reports false if
// it can't be repeated, so that nothing needs the receipt.
func rememberChange(l *state.Lock, r *command.Request, receipt any) (kept bool) {
	call := kind.Call{Name: r.Wire.Command, Script: r.Wire.Script, Args: r.Wire.Args, Resend: r.Resend, Writes: true}
	if l.Traits.Unowned || l.Traits.Gate {
		if call, kept = kind.Repeated(call, r.Wire.Reply); !kept {
			return false
		}
	}
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	addChange(l.Shard, &state.PastChange{
		Client: l.Client, Name: l.Name(), Slot: l.Slot, Receipt: receipt, Call: call, Sent: r.Wire.Sent, Until: r.Until, Due: r.ServedElsewhere(), Late: r.MayArrive, On: r.Connection(),
	})
	return true
}

// RememberTaken remembers the acquire, sent at and answered by reply, of what nobody owns. Its release
// is repeated after a failover, so the acquire must be too: on a server that lacks both, the
// release alone would add to what there is to take.
func RememberTaken(l *state.Lock, by owner.Owner, at time.Duration, reply any) {
	c := l.Client
	want := kind.Want{Names: &l.Names, Latch: kind.Receipt(&l.Names, by), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	call, known := kind.Repeated(kind.TakeAgain(l.Kind, &want), reply)
	if !known {
		c.Exec.Discard(l.Slot, want.Latch)
		return
	}
	defer l.Shard.Enter(section.MayBlock).Leave()
	addChange(l.Shard, &state.PastChange{
		Client: c, Name: l.Name(), Slot: l.Slot, Receipt: want.Latch, Call: call, Sent: at, Until: at + c.ChangeFor, Due: c.NewMaster(l.Slot, at),
	})
}

// GiveTaken gives back what an acquire of what nobody owns has taken, if its receipt is not in its
// slot. It blocks as a release does.
func GiveTaken(l *state.Lock) error {
	_, err := change.Do(context.Background(), &l.Lock, true, func(w *kind.Want) kind.Call { return kind.GiveTaken(l.Kind, w) }, nil)
	return err
}

// addChange remembers u. What is due is sent.
func addChange(s *state.Shard, u *state.PastChange) {
	if s.Remember(u); u.Due {
		repeatDue(s)
	}
}

// repeatChange sends a change again.
func repeatChange(s *state.Shard, u *state.PastChange) {
	c := u.Client
	c.Work.Add()
	q := &repeatedChange{s, u}
	r := c.Question(u.Slot, u.Call, u.Until)
	if r.Handler = q; !s.Enqueue(r) {
		c.Go(func() { q.Answered(r) })
	}
}

// repeatedChange is a change that was sent again.
type repeatedChange struct {
	s *state.Shard
	u *state.PastChange
}

// Answered ends the repetition. The remembered change keeps the receipt.
func (q *repeatedChange) Answered(r *command.Request) {
	defer q.s.Enter(section.MustNotBlock).Leave()
	c := q.u.Client
	_, err := core.Replied(r)
	if err != nil && !c.Closed() {
		c.Log.NotDone(q.s, eventlog.Lock{Name: q.u.Name}, err)
	}
	q.s.Past.Repeated(q.u, r.Connection(), r.MayArrive || err != nil)
	repeatDue(q.s)
	c.Work.Done()
}

// Rest sends it until it is answered.
func (q *repeatedChange) Rest(r *command.Request) {
	q.u.Client.Exec.Finish(r)
	q.Answered(r)
}
