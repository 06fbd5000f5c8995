package faults

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// lostUnlockReply: the only hold is released, and the reply is lost or late. In every second round a waiter enters before
// the unlock is retried; the retry must not release the waiter's hold.
func lostUnlockReply(do faultproxy.Action) func(*round) {
	return func(r *round) {
		h := r.take(r.lock)
		var next <-chan testbed.Entry
		if r.i%2 == 0 {
			next = r.acquiring(func() (*rlock.Hold, error) { return r.his.Lock(r.Context()) })
			r.listens(1)
		}
		r.hit(unlocks, 1, do)
		r.allowed("", h.Unlock(context.Background()), ok)
		if next != nil {
			got := r.await(next)
			r.counts(1, 0)
			if got.Err != nil {
				r.violates("the waiter: %v", got.Err)
			}
			r.inside(got)
		}
		r.comesFree()
		r.row.counted(1, r.ran())
	}
}

func (r *round) nested() []*rlock.Hold {
	r.Helper()
	first := r.take(r.lock)
	as := rlock.As(first.Owner())
	return []*rlock.Hold{first, r.take(r.lock, as), r.take(r.lock, as)}
}

// lostPartialUnlockReply: one of three holds is released, and the reply is lost or late.
func lostPartialUnlockReply(do faultproxy.Action) func(*round) {
	return func(r *round) {
		holds := r.nested()
		r.hit(unlocks, 1, do)
		r.allowed("", holds[2].Unlock(context.Background()), ok)
		r.holds(2, holds[:2]...)
		ran := r.ran()
		r.release(holds[1], holds[0])
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// lateUnlock: the bytes of the unlock of one of three holds arrive only after the unlock was retried. In every second
// round the connection is cut meanwhile; otherwise it is silent.
func lateUnlock(r *round) {
	holds := r.nested()
	late := r.hit(unlocks, 1, faultproxy.Withhold)
	unlocked := r.asks(func() error { return holds[2].Unlock(context.Background()) })
	r.comes(late)
	if r.i%2 == 0 {
		r.proxy.CutAll()
	}
	r.allowed("", unlocked.end(), ok)
	r.holds(2, holds[:2]...)
	ran := late.Release()
	if ran != 0 {
		r.violates("the late unlock ran, fenced though it was")
	}
	r.holds(2, holds[:2]...)
	r.release(holds[1], holds[0])
	r.comesFree()
	r.row.counted(1, ran)
}

// lostReentry: an owner that holds the lock enters again, and the reply is lost or late, or the command arrives too late.
func lostReentry(do faultproxy.Action) func(*round) {
	return func(r *round) {
		first := r.take(r.lock)
		fault := r.hit(acquires, 1, do)
		calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context(), rlock.As(first.Owner())) })
		if do == faultproxy.Withhold {
			r.comes(fault)
			r.proxy.CutAll()
		}
		kinds := []string{ok}
		if do == faultproxy.DropReply || do == faultproxy.HoldReply {
			kinds = append(kinds, uncertain)
		}
		got := r.await(calls)
		r.allowed("", got.Err, kinds...)
		ran := r.ran()
		if got.Err == nil {
			r.holds(2, first, got.Hold)
			if n := fault.Release(); n != 0 {
				r.violates("the late acquire ran")
			}
			r.holds(2, first, got.Hold)
			r.release(got.Hold)
		}
		if !testbed.Within(r.row.bound, func() bool { return r.fields()[testbed.Field(first.Owner())] == 1 }) {
			r.violates("the count stays at %v, want 1", r.fields())
		}
		r.holds(1, first)
		r.release(first)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// lostReentryGivenUp: the caller gives up a re-entry that gets no reply, and releases its first hold while the outcome is
// still open. In the end neither is counted.
func lostReentryGivenUp(r *round) {
	first := r.take(r.lock)
	fault := r.hit(acquires, 1, faultproxy.DropReply)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(ctx, rlock.As(first.Owner())) })
	r.comes(fault)
	cancel()
	r.allowed("Lock: ", r.await(calls).Err, ctxEnded)
	r.allowed("Unlock: ", first.Unlock(context.Background()), ok)
	r.comesFree()
	r.row.counted(1, r.ran())
}

var unlockFaults = []scenario{
	{fault: "reply to an unlock lost, connection cut", by: "proxy: executed, then cut", times: 1000, round: lostUnlockReply(faultproxy.CutAfter)},
	{fault: "reply to an unlock lost in silence", by: "proxy: executed, then nothing", times: 1000, lanes: 12, round: lostUnlockReply(faultproxy.DropReply)},
	{fault: "reply to the unlock of one hold of three lost, connection cut", by: "proxy: executed, then cut", times: 1000, round: lostPartialUnlockReply(faultproxy.CutAfter)},
	{fault: "reply to the unlock of one hold of three lost in silence", by: "proxy: executed, then nothing", times: 1000, lanes: 12, round: lostPartialUnlockReply(faultproxy.DropReply)},
	{fault: "unlock of one hold of three arrives after it was repeated", by: "proxy: bytes withheld and delivered", times: 200, round: lateUnlock},
	{fault: "reply to a re-entry (`As`) lost, connection cut", by: "proxy: executed, then cut", times: 200,
		timeout: 500 * time.Millisecond, bound: 1500 * time.Millisecond, remark: "the command timeout is 500 ms", round: lostReentry(faultproxy.CutAfter)},
	{fault: "reply to a re-entry (`As`) lost in silence", by: "proxy: executed, then nothing", times: 200, round: lostReentry(faultproxy.DropReply)},
	{fault: "reply to a re-entry (`As`) lost in silence, given up, and the outer hold released meanwhile", by: "proxy: executed, then nothing", times: 200, round: lostReentryGivenUp},
	{fault: "re-entry (`As`) arrives after it was given up", by: "proxy: bytes withheld and delivered", times: 200, round: lostReentry(faultproxy.Withhold)},
}
