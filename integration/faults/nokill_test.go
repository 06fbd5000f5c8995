package faults

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// noKill may do everything but what the kill barrier needs.
var noKill = &redisserver.User{Name: "app", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-client|kill"}}

// withoutFence has the reply to its acquire lost where no connection can be killed.
func withoutFence(r *round) {
	_, calls := r.faulted(acquires, faultproxy.CutAfter)
	r.acquired(r.await(calls))
	r.row.counted(1, r.ran())
}

// lateWithoutFence: the acquire is given up and undone, the lock is free, and then its bytes arrive and run. What they
// leave is nobody's until the undo is repeated.
func lateWithoutFence(r *round) {
	late := r.hit(acquires, 1, faultproxy.Withhold)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(ctx) })
	select {
	case <-late.Hit():
	case <-time.After(soon):
		r.Fatal("the acquire never came")
	}
	cancel()
	r.proxy.CutAll()
	r.allowed("", r.await(calls).err, ctxEnded)
	if !testbed.Within(soon, func() bool { return r.answered(unlocks) > 0 }) {
		r.violates("the lost acquire was not undone")
	}
	ran := late.Release()
	arrived := time.Now()
	if !testbed.Within(r.row.bound, func() bool { return len(r.fields()) == 0 }) {
		r.violates("%v after it arrived the server still has %v", time.Since(arrived), r.fields())
	}
	r.release(r.rivalTakes())
	r.row.counted(1, ran)
}

// reentryWithoutFence: whether it ran can't be found out, and the error must say so.
func reentryWithoutFence(r *round) {
	first := r.take(r.lock)
	r.hit(acquires, 1, faultproxy.CutAfter)
	got := r.await(r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context(), rlock.As(first.Owner())) }))
	r.allowed("", got.err, uncertain)
	ran := r.ran()
	r.holds(1+ran, first) // one more than anybody knows of
	r.release(first)
	// What is left is the caller's to clear up: by the lease's end, or by force.
	if _, err := r.his.ForceUnlock(r.Context()); err != nil {
		r.Fatal(err)
	}
	r.row.counted(1, ran)
}

var noKillFaults = []scenario{
	{fault: "CLIENT KILL refused: reply to an acquire lost, connection cut", by: "server's ACL; proxy: executed, then cut", times: 100,
		user: noKill, latches: true, round: withoutFence},
	{fault: "CLIENT KILL refused: acquire arrives after its first undo, at a free lock", by: "server's ACL; proxy: bytes withheld and delivered", times: 100,
		user: noKill, latches: true, lanes: 12, bound: 2500 * time.Millisecond, remark: "an unowned key, which the next undo deletes", round: lateWithoutFence},
	{fault: "CLIENT KILL refused: reply to a re-entry (`As`) lost", by: "server's ACL; proxy: executed, then cut", times: 100,
		user: noKill, latches: true, inexact: true, bound: 2500 * time.Millisecond, remark: "the count stays one too high until the lease ends", round: reentryWithoutFence},
}
