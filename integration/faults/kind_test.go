package faults

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// inTurn plays each round with the next of the actions.
func inTurn(of func(faultproxy.Action) func(*round), actions ...faultproxy.Action) func(*round) {
	return func(r *round) { of(actions[r.i%len(actions)])(r) }
}

func (r *round) comes(fault *faultproxy.Handle) {
	r.Helper()
	testbed.Receive(r.T, "the command", fault.Hit())
}

// meets waits until a fault has hit its command. If the command is withheld, its connection is then cut.
func (r *round) meets(fault *faultproxy.Handle, do faultproxy.Action) {
	r.Helper()
	r.comes(fault)
	if do == faultproxy.Withhold {
		r.proxy.CutAll()
	}
}

// arrives delivers the withheld bytes after their connection was killed. They must not run.
func (r *round) arrives(fault *faultproxy.Handle, do faultproxy.Action) {
	r.Helper()
	if do != faultproxy.Withhold {
		return // a late reply comes by itself
	}
	killed := func() bool {
		record := r.proxy.Record()
		i := slices.IndexFunc(record, func(e faultproxy.Exchange) bool {
			return e.Did == faultproxy.Withhold && e.Answered.IsZero() && faultproxy.Key(r.name)(e.Cmd)
		})
		if i < 0 {
			return true
		}
		id := strconv.FormatInt(r.proxy.Log()[record[i].Conn].ClientID, 10)
		return slices.ContainsFunc(record, func(e faultproxy.Exchange) bool {
			return faultproxy.Command("CLIENT", "KILL", "ID", id)(e.Cmd) && !e.Answered.IsZero()
		})
	}
	r.expects(r.row.bound, "the connection of what is late was not killed", killed)
	if n := fault.Release(); n != 0 {
		r.violates("what arrived late ran")
	}
}

// waiting returns how many of n waiters are in a queue on the server.
func (r *round) waiting(n int) int {
	if r.row.kind.Fair {
		return n
	}
	return 0
}

// lostUndoReply: the acquire runs, and both its reply and that of its undo are lost.
func lostUndoReply(do faultproxy.Action) func(*round) {
	return func(r *round) {
		r.hit(unlocks, 1, do)
		r.hit(leaves, 1, do)
		lostAcquireReply(do)(r)
		r.repeats()
	}
}

// repeats waits until each command without a reply was retried and answered. Until then the next round's commands would
// go to the silent connection too.
func (r *round) repeats() {
	r.Helper()
	r.expects(soon, "it was not repeated", func() bool { return !r.unheard(unlocks) && !r.unheard(leaves) })
}

// unheard reports whether the last such command of this round had no reply.
func (r *round) unheard(match faultproxy.Match) (last bool) {
	for _, e := range r.proxy.Record() {
		if match(e.Cmd) && faultproxy.Key(r.name)(e.Cmd) {
			last = e.Did != 0 || e.Answered.IsZero()
		}
	}
	return last
}

// lostAcquireGivenUp: the caller gives up an acquire without a reply.
func lostAcquireGivenUp(do faultproxy.Action) func(*round) {
	return func(r *round) {
		fault := r.hit(acquires, 1, do)
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(ctx) })
		r.meets(fault, do)
		cancel()
		got := r.await(calls)
		r.allowed("", got.Err, ctxEnded, ok)
		if got.Err == nil {
			r.release(got.Hold)
		}
		r.comesFree()
		ran := r.ran()
		r.arrives(fault, do)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// lostRefusal: another holds the lock, and the waiter does not get that reply, at its first attempt or at the second. A
// fair lock has queued it by then.
func lostRefusal(do faultproxy.Action) func(*round) {
	return func(r *round) {
		first := r.rivalTakes()
		fault := r.proxy.Add(faultproxy.Rule{Match: faultproxy.All(acquires, faultproxy.Key(r.name)), Skip: r.i / 3 % 2, Times: 1, Do: do, Delay: r.tooLate()})
		calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context()) })
		r.meets(fault, do)
		testbed.Within(soon, func() bool { return len(calls) > 0 || r.listeners() == 1 && r.answered(acquires) > 2 })
		if len(calls) > 0 {
			got := <-calls
			r.allowed("", got.Err, uncertain)
			r.exact(0)
			r.release(first)
		} else {
			r.exact(r.waiting(1))
			r.release(first)
			got := r.await(calls)
			r.allowed("", got.Err, ok)
			r.inside(got)
		}
		ran := r.ran()
		r.arrives(fault, do)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// lostLeave: the first of two in a fair lock's queue gives up, and the reply to its leave is lost or late.
func lostLeave(do faultproxy.Action) func(*round) {
	return func(r *round) {
		first := r.rivalTakes()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(ctx) })
		testbed.BecomesWithin(r.T, soon, "the waiter tries again", func() bool { return r.listeners() == 1 && r.answered(acquires) >= 2 })
		next := r.acquiring(func() (*rlock.Hold, error) { return r.his.Lock(r.Context()) })
		r.listens(2)
		fault := r.hit(leaves, 1, do)
		cancel()
		r.meets(fault, do)
		r.allowed("", r.await(calls).Err, ctxEnded)
		r.exact(1)
		r.keepsOneWait()
		ran := r.ran()
		r.arrives(fault, do)
		r.exact(1)
		r.keepsOneWait()
		r.repeats()
		r.release(first)
		got := r.await(next)
		r.counts(1, 0)
		if got.Err != nil {
			r.violates("who is next: %v", got.Err)
		}
		r.inside(got)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// keepsOneWait fails unless the place of the only waiter lasts for the lease and one wait: a waiter that left must have
// subtracted the wait that it had added, exactly once.
func (r *round) keepsOneWait() {
	r.Helper()
	scores, err := redis.Strings(testbed.Do(r.T, r.direct, "ZRANGE", codec.FairTimes(r.name), 0, -1, "WITHSCORES"), nil)
	if err != nil || len(scores) != 2 {
		r.violates("times %v, %v", scores, err)
		return
	}
	till, _ := strconv.ParseInt(scores[1], 10, 64)
	const wait = 5 * time.Minute // Redisson's fairLockWaitTimeout
	if more := time.Until(time.UnixMilli(till)) - r.ttl(r.name) - wait; more.Abs() > wait/2 {
		r.violates("its place ends %v from where it should", more)
	}
}

// lostForce: a client forces a lock that it holds itself, and does not learn whether the force ran.
func lostForce(do faultproxy.Action) func(*round) {
	return func(r *round) {
		h := r.take(r.lock)
		fault := r.hit(forces, 1, do)
		a := r.asks(func() error { _, err := r.lock.ForceUnlock(r.Context()); return err })
		r.meets(fault, do)
		r.allowed("", a.end(), uncertain)
		r.allowed("hold: ", h.Err(), leaseLost)
		ran := r.ran()
		r.counts(0, ran)
		r.arrives(fault, do)
		if n := len(r.fields()); n != 1-ran {
			r.violates("the force ran %d times, and %v is left", ran, r.fields())
		}
		r.exact(0)
		r.allowed("its Unlock: ", h.Unlock(context.Background()), lostNotHeld)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// shortLease is the watchdog timeout of the rows that wait for a renewal.
const shortLease = 6 * time.Second

// lostRenewal: the holds of an owner live on, and so do the keys that a read lock has for each.
func lostRenewal(do faultproxy.Action) func(*round) {
	return func(r *round) {
		holds := []*rlock.Hold{r.take(r.lock)}
		if as := rlock.As(holds[0].Owner()); !r.row.kind.Strict {
			holds = append(holds, r.take(r.lock, as), r.take(r.lock, as))
		}
		fault := r.hit(renewals, 1, do)
		r.meets(fault, do)
		until := holds[0].ValidUntil()
		r.expects(soon, "not renewed", func() bool {
			return holds[0].ValidUntil().After(until.Add(10*time.Millisecond)) || holds[0].Err() != nil
		})
		r.holds(len(holds), holds...)
		r.exact(0)
		for n := range holds {
			hold := codec.ReadHolds(r.name) + ":" + testbed.Field(holds[0].Owner()) + ":rwlock_timeout:" + strconv.Itoa(n+1)
			// The lock is read first, so that a renewal in between is no violation.
			if left, ttl := r.ttl(r.name), r.ttl(hold); r.row.kind.Mode == "read" && ttl < left-timeout {
				r.violates("the lock has %v, and its hold %d has %v", left, n+1, ttl)
			}
		}
		ran := r.ran()
		for _, h := range holds {
			r.allowed("", h.Err(), ok)
			r.release(h)
		}
		r.comesFree()
		r.arrives(fault, do)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// lostRefusedReentry: an owner that holds a non-reentrant lock asks for it again, and does not get the reply.
func lostRefusedReentry(do faultproxy.Action) func(*round) {
	return func(r *round) {
		h := r.take(r.lock)
		fault := r.hit(acquires, 1, do)
		calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context(), rlock.As(h.Owner())) })
		r.meets(fault, do)
		kinds := []string{reentered}
		if do != faultproxy.CutAfter {
			kinds = append(kinds, uncertain)
		}
		r.allowed("", r.await(calls).Err, kinds...)
		ran := r.ran()
		r.arrives(fault, do)
		r.holds(1, h)
		r.release(h)
		r.comesFree()
		r.row.counted(1, ran)
	}
}

// lostToken: a client reads the token of the last grant, and does not get the reply.
func lostToken(do faultproxy.Action) func(*round) {
	return func(r *round) {
		h := r.take(r.lock)
		fault := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Key(codec.TokenKey(r.name)), Times: 1, Do: do, Delay: r.tooLate()})
		var token int64
		a := r.asks(func() (err error) { token, err = r.lock.LastToken(r.Context()); return err })
		r.meets(fault, do)
		err := a.end()
		if kindOf(err) == undocumented && errors.Is(err, rlock.ErrUnavailable) { // as for any read from a silent server
			r.row.outcome("an error that says so", 1)
		} else {
			r.allowed("", err, ok)
		}
		if err == nil && token != h.Token() {
			r.violates("token %d of a hold with %d", token, h.Token())
		}
		r.arrives(fault, do)
		r.release(h)
		r.comesFree()
		r.row.counted(1, -1)
	}
}

// kindFaultsFor returns the rows of each kind except the plain one.
func kindFaultsFor() (rows []scenario) {
	const (
		cut, silence, late, under = faultproxy.CutAfter, faultproxy.DropReply, faultproxy.HoldReply, faultproxy.Withhold

		unheard = "proxy: executed, then cut, nothing, or the reply after 1.2 s"
		untold  = "proxy: the same, or bytes withheld and delivered"
	)
	for _, k := range testbed.Kinds {
		of := []scenario{
			{fault: "reply to an acquire lost or late", by: unheard, round: inTurn(lostAcquireReply, cut, silence, late)},
			{fault: "reply to an acquire lost, and to the next one", by: "proxy: executed, then cut", again: 1, round: lostAcquireReply(cut)},
			{fault: "reply to an acquire lost, and to its undo", by: "proxy: executed, then cut, or nothing", round: inTurn(lostUndoReply, cut, silence)},
			{fault: "acquire arrives after it was given up and undone", by: "proxy: bytes withheld and delivered", round: lateAcquire},
			{fault: "acquire lost or late, and given up", by: untold, round: inTurn(lostAcquireGivenUp, cut, silence, late, under)},
			{fault: "refused try lost or late", by: untold, round: inTurn(lostRefusal, cut, silence, late, under)},
			{fault: "reply to an unlock lost or late", by: unheard, round: inTurn(lostUnlockReply, cut, silence, late)},
			{fault: "reply to an unlock lost, and to its repetition", by: "proxy: executed, then cut", again: 1, round: lostUnlockReply(cut)},
			{fault: "force lost or late", by: untold, round: inTurn(lostForce, cut, silence, late, under)},
			{fault: "renewal lost or late", by: untold, options: []rlock.Option{rlock.WithWatchdogTimeout(shortLease)},
				lanes: 16, round: inTurn(lostRenewal, cut, silence, late, under)},
		}
		if k.Strict {
			of = append(of, scenario{fault: "refused re-entry (`As`) lost or late", by: untold, round: inTurn(lostRefusedReentry, cut, silence, late, under)})
		} else {
			of = append(of,
				scenario{fault: "re-entry (`As`) lost or late", by: untold, round: inTurn(lostReentry, cut, silence, late, under)},
				scenario{fault: "reply to a re-entry (`As`) lost in silence, given up, and the outer hold released meanwhile", by: "proxy: executed, then nothing", round: lostReentryGivenUp},
				scenario{fault: "reply to the unlock of one hold of three lost or late", by: unheard, round: inTurn(lostPartialUnlockReply, cut, silence, late)},
				scenario{fault: "unlock of one hold of three arrives after it was repeated", by: "proxy: bytes withheld and delivered", round: lateUnlock})
		}
		if k.Fair {
			of = append(of, scenario{fault: "give-up of a place lost or late", by: untold, round: inTurn(lostLeave, cut, silence, late, under)})
		}
		if k.Tokens {
			of = append(of, scenario{fault: "read of the token lost or late", by: untold, round: inTurn(lostToken, cut, silence, late, under)})
		}
		for _, s := range of {
			s.fault = k.Name + " lock: " + s.fault
			s.kind, s.times = k, 100
			// The kinds run in parallel, so the machine is busier.
			s.timeout, s.bound = 2*timeout, 2*timeout+time.Second
			rows = append(rows, s)
		}
	}
	return rows
}
