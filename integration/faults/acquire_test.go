package faults

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

type way struct {
	waits bool // somebody else holds the lock first, and the fault hits the attempt after the wake-up
	call  func(context.Context, *rlock.Lock) (*rlock.Hold, error)
}

var ways = []way{
	{call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) }},
	{call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLock(ctx) }},
	{call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.TryLockFor(ctx, far) }},
	{waits: true, call: func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) }},
}

// way returns the way of this round. A lane uses all of them in turn.
func (r *round) way() way { return ways[r.variant(len(ways))] }

// faulted acquires with a fault on the command that would be granted.
func (r *round) faulted(match faultproxy.Match, do faultproxy.Action) (*faultproxy.Handle, <-chan testbed.Entry) {
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
	testbed.BecomesWithin(r.T, soon, "the waiter tries again", func() bool { return r.answered(acquires) >= 2 })
	fault := r.hit(match, 1, do)
	r.release(first)
	return fault, got
}

// acquired judges the outcome of a faulted acquire. kinds are the errors that it may return; an acquire that had waited
// must return none.
func (r *round) acquired(got testbed.Entry, kinds ...string) {
	r.Helper()
	if r.way().waits {
		kinds = nil
	}
	r.allowed("", got.Err, append(kinds, ok)...)
	r.inside(got)
	r.comesFree()
}

// inside checks that a granted acquire is the only holder, and releases it.
func (r *round) inside(got testbed.Entry) {
	r.Helper()
	if got.Err == nil {
		r.holds(1, got.Hold)
		r.release(got.Hold)
	}
}

// lostAcquireReply: the acquire runs, and its reply is lost or late.
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

// lateAcquire: the acquire's bytes arrive only after it was given up, and sent again or undone.
func lateAcquire(r *round) {
	late, calls := r.faulted(acquires, faultproxy.Withhold)
	r.comes(late)
	cut := r.i%2 == 0
	if cut {
		r.proxy.CutAll()
	} // else silence
	got := r.await(calls)
	r.expects(r.row.bound, "the lost acquire was neither sent again nor undone", func() bool { return r.answered(testbed.Repetitions)+r.answered(unlocks) > 0 })
	if got.Err == nil && r.i%4 < 2 {
		// The late acquire arrives while another attempt of the same caller holds the lock; below, at a free lock.
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

// noKill may do everything except CLIENT KILL, which the kill barrier needs.
var noKill = &redisserver.User{Name: "app", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-client|kill"}}

// withoutFence: the reply to an acquire is lost, and no connection can be killed.
func withoutFence(r *round) {
	_, calls := r.faulted(acquires, faultproxy.CutAfter)
	r.acquired(r.await(calls))
	r.row.counted(1, r.ran())
}

// lateWithoutFence: the acquire is given up and undone, the lock is free, and then its bytes arrive and run. The key
// that they leave is unowned until the undo is repeated.
func lateWithoutFence(r *round) {
	late := r.hit(acquires, 1, faultproxy.Withhold)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(ctx) })
	r.comes(late)
	cancel()
	r.proxy.CutAll()
	r.allowed("", r.await(calls).Err, ctxEnded)
	r.expects(soon, "the lost acquire was not undone", func() bool { return r.answered(unlocks) > 0 })
	ran := late.Release()
	arrived := time.Now()
	if !testbed.Within(r.row.bound, func() bool { return len(r.fields()) == 0 }) {
		r.violates("%v after it arrived the server still has %v", time.Since(arrived), r.fields())
	}
	r.release(r.rivalTakes())
	r.row.counted(1, ran)
}

// reentryWithoutFence: the client can't find out whether the re-entry ran, and the error must say so.
func reentryWithoutFence(r *round) {
	first := r.take(r.lock)
	r.hit(acquires, 1, faultproxy.CutAfter)
	got := r.await(r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context(), rlock.As(first.Owner())) }))
	r.allowed("", got.Err, uncertain)
	ran := r.ran()
	r.holds(1+ran, first) // one more than anybody knows of
	r.release(first)
	// The caller has to clear up what is left: it waits for the lease's end, or forces the lock.
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

// numberTimeout is a command timeout so long that even a busy machine delays no command by several of them.
const numberTimeout = time.Second

var (
	takes  = faultproxy.Script(luasrc.SemaphoreAcquireScript.SHA1)
	undoes = faultproxy.Script(luasrc.SemaphoreUndoScript.SHA1)
)

// An acquire that was given up may arrive and take permits if its connection can't be killed. The undo, repeated every
// second, releases them.
func TestAcquireOfPermitsArrivesWhereNothingCanBeKilled(t *testing.T) {
	t.Parallel()
	p := testbed.NewProxied(t, redisserver.ACL(t, *noKill))
	p.LoadScripts()
	c := p.Open(strings.Replace(p.URL(), "://", "://"+noKill.Name+":"+noKill.Password+"@", 1), rlock.WithCommandTimeout(numberTimeout))
	const name = "unkilled"
	testbed.Do(t, p.Conn, "SET", name, 5)
	late := p.Proxy.Add(faultproxy.Rule{Match: faultproxy.All(takes, faultproxy.Key(name)), Times: 1, Do: faultproxy.Withhold})
	ctx, cancel := context.WithCancel(t.Context())
	done := testbed.Begun(func() error { return c.NewSemaphore(name).Acquire(ctx, 2) })
	p.Hit(late)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.Proxy.CutAll()
	p.Becomes("the undo has run", func() bool { return p.Answered(undoes) > 0 })
	if late.Release() == 0 {
		t.Fatal("it does not arrive")
	}
	p.Becomes("it has taken them", func() bool { return p.Calls()["DECRBY"] == 1 })
	p.Becomes("they are given back", func() bool { return p.Text("GET", name) == "5" && len(p.Strings("KEYS", "*{"+name+"}*")) == 0 })
}
