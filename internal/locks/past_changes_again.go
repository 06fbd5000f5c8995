package locks

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
)

// A due change (change.go) is remembered as an unlock is, and repeated with its receipt: a
// server that has the receipt does not count the change twice. So the receipt is kept until the
// change is forgotten. An acquire of what nobody owns is repeated in the same way.
//
// A server that came back empty has no receipt either, and perhaps an object of the same name
// that was made since. So the repetition says how the object is known that was changed, and does
// nothing if there is another one or none (kind.Repeated). The ids of permits are their own
// proof.

// Change is sendChange. A change that is due is remembered if a failover may undo it.
func Change(ctx context.Context, l *Lock, due bool, call func(*kind.Want) kind.Call) (any, error) {
	var keep func(*command.Request, any) bool
	if due && l.Client.failsOver {
		keep = func(r *command.Request, receipt any) bool { return rememberChange(l, r, receipt) }
	}
	return sendChange(ctx, l, due, call, keep)
}

// rememberChange remembers a due change that was answered, with its receipt. It reports false if
// it can't be repeated, so that nothing needs the receipt.
func rememberChange(l *Lock, r *command.Request, receipt any) (kept bool) {
	call := kind.Call{Name: r.Wire.Command, Script: r.Wire.Script, Args: r.Wire.Args, Resend: r.Resend, Writes: true}
	if l.Traits.Unowned || l.Traits.Gate {
		if call, kept = kind.Repeated(call, r.Wire.Reply); !kept {
			return false
		}
	}
	defer l.shard.enter(mustNotBlock).leave()
	l.shard.addChange(&pastChange{
		client: l.Client, name: l.name, slot: l.slot, receipt: receipt, call: call, sent: r.Wire.Sent, until: r.Until, due: r.ServedElsewhere(), late: r.MayArrive, on: r.Wire.Connection(),
	})
	return true
}

// rememberTaken remembers the acquire, sent at and answered by reply, of what nobody owns. Its release
// is repeated after a failover, so the acquire must be too: on a server that lacks both, the
// release alone would add to what there is to take.
func rememberTaken(l *Lock, by Owner, at time.Duration, reply any) {
	c := l.Client
	want := kind.Want{Names: &l.names, Latch: kind.Receipt(&l.names, by), LatchTTL: c.args.ReceiptTTL, Publish: l.Client.top.Publish(l.slot)}
	call, known := kind.Repeated(kind.TakeAgain(l.kind, &want), reply)
	if !known {
		c.exec.Discard(l.slot, want.Latch)
		return
	}
	defer l.shard.enter(mayBlock).leave()
	l.shard.addChange(&pastChange{
		client: c, name: l.name, slot: l.slot, receipt: want.Latch, call: call, sent: at, until: at + c.changeFor, due: c.newMaster(l.slot, at),
	})
}

// giveTaken gives back what an acquire of what nobody owns has taken, if its receipt is not in its
// slot. It blocks as a release does.
func giveTaken(l *Lock) error {
	_, err := sendChange(context.Background(), l, true, func(w *kind.Want) kind.Call { return kind.GiveTaken(l.kind, w) }, nil)
	return err
}

// addChange remembers u. What is due is sent.
func (s *shard) addChange(u *pastChange) {
	if s.remember(u); u.due {
		s.repeatDue()
	}
}

// repeatChange sends a change again.
func (s *shard) repeatChange(u *pastChange) {
	c := u.client
	c.work.Add()
	s.askLater(u.slot, u.call, u.until, func(r *command.Request) { // the remembered change keeps the receipt
		_, err := replied(r)
		if err != nil && !c.Closed() {
			c.Log.NotDone(s, eventlog.Lock{Name: u.name}, err)
		}
		s.past.repeated(u, r.Wire.Connection(), r.MayArrive || err != nil)
		s.repeatDue()
		c.work.Done()
	})
}
