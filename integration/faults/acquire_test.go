package faults

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// way is one way to acquire.
type way struct {
	waits bool // somebody else holds the lock first, and the fault meets the try after the wake-up
	call  func(context.Context, *rlock.Lock) (*rlock.Hold, error)
}

var ways = []way{
	{call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) }},
	{call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLock(ctx) }},
	{call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLockFor(ctx, far) }},
	{waits: true, call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) }},
}

// way is which one this round takes. A lane has every one of them in turn.
func (r *round) way() way { return ways[r.variant(len(ways))] }

// faulted acquires with a fault on the command that would be granted.
func (r *round) faulted(match faultproxy.Match, do faultproxy.Action) (*faultproxy.Handle, <-chan result) {
	r.Helper()
	w := r.way()
	call := func() (*rlock.Hold, error) { return w.call(r.Context(), r.lock) }
	if !w.waits {
		fault := r.hit(match, 1, do)
		return fault, r.acquiring(call)
	}
	first := r.rivalTakes()
	got := r.acquiring(call)
	r.listens(1)
	if !testbed.Within(soon, func() bool { return r.answered(acquires) == 2 }) {
		r.Fatal("the waiter never tried again")
	}
	fault := r.hit(match, 1, do)
	r.release(first)
	return fault, got
}

// acquired judges what a faulted acquire came to. kinds are the errors that it may have; one that had waited may have
// none.
func (r *round) acquired(got result, kinds ...string) {
	r.Helper()
	if r.way().waits {
		kinds = nil
	}
	r.allowed("", got.err, append(kinds, ok)...)
	if got.err == nil {
		r.holds(1, got.hold)
		r.release(got.hold)
	}
	r.comesFree()
}

// lostAcquireReply: the acquire runs and its caller does not hear of it.
func lostAcquireReply(do faultproxy.Action) func(*round) {
	return func(r *round) {
		var kinds []string
		if do != faultproxy.CutAfter {
			kinds = []string{uncertain} // the silence alone takes a command timeout
		}
		_, calls := r.faulted(acquires, do)
		r.acquired(r.await(calls), kinds...)
		r.row.counted(1, r.ran())
	}
}

// lateAcquire: the acquire's bytes are under way while it is given up and undone, and arrive then.
func lateAcquire(r *round) {
	late, calls := r.faulted(acquires, faultproxy.Withhold)
	select {
	case <-late.Hit():
	case <-time.After(soon):
		r.Fatal("the acquire never came")
	}
	cut := r.i%2 == 0
	if cut {
		r.proxy.CutAll()
	} // else silence
	got := r.await(calls)
	if !testbed.Within(r.row.bound, func() bool { return r.answered(unlocks) > 0 }) {
		r.violates("the lost acquire was not undone")
	}
	if got.err == nil && r.i%4 < 2 {
		// While another attempt of the same caller holds it. Else it arrives at a free lock.
		if n := late.Release(); n != 0 {
			r.violates("the late acquire ran")
		}
		r.acquired(got, uncertain)
		r.row.counted(1, r.ran())
		return
	}
	r.acquired(got, uncertain)
	ran := late.Release()
	if ran != 0 {
		r.violates("the late acquire ran")
	}
	r.comesFree()
	r.row.counted(1, ran)
}

var acquireFaults = []scenario{
	{fault: "reply to an acquire lost, connection cut", by: "proxy: executed, then cut", times: 1000,
		timeout: 500 * time.Millisecond, bound: 1500 * time.Millisecond, remark: "the command timeout is 500 ms", round: lostAcquireReply(faultproxy.CutAfter)},
	{fault: "reply to an acquire lost in silence", by: "proxy: executed, then nothing", times: 1000, lanes: 12, round: lostAcquireReply(faultproxy.DropReply)},
	{fault: "acquire arrives after it was given up and undone", by: "proxy: bytes withheld and delivered", times: 200, round: lateAcquire},
}
