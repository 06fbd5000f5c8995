package faults

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// What the proxy is told to look for.
var (
	acquires = testbed.Acquires
	unlocks  = testbed.Unlocks
	leaves   = testbed.Leaves
	renewals = testbed.Renewals
	forces   = testbed.Forces
)

type lane struct {
	*testing.T
	*site
	number int
	proxy  *faultproxy.Proxy
	host   string            // of a row with names: what leads to the server
	second *faultproxy.Proxy // likewise: the same port of the address that the name moves to
	client *rlock.Client     // behind the proxy: the one that meets the faults
	rival  *rlock.Client     // straight to the server, unless the server moves
	direct redis.Conn        // the lane's own eyes and hands
}

func newLane(t *testing.T, at *site, number int) *lane {
	l := &lane{T: t, site: at, number: number, proxy: faultproxy.Start(t, at.server.Addr()), direct: at.dial(t)}
	t.Cleanup(func() { l.direct.Close() })
	at.row.mu.Lock()
	at.row.proxies = append(at.row.proxies, l.proxy)
	at.row.mu.Unlock()
	addr, his := l.proxy.Addr(), at.server.Addr()
	if at.row.named {
		addr = l.nameIt(addr)
	}
	if at.row.moves {
		his = addr
	}
	l.client = l.open(addr, true)
	l.rival = l.open(his, false)
	return l
}

// open makes a client that is closed with the lane at the latest.
func (l *lane) open(addr string, asUser bool) *rlock.Client {
	l.Helper()
	u, options := l.place(addr)
	if user := l.row.user; user != nil && asUser {
		u.User = url.UserPassword(user.Name, user.Password)
	}
	var c *rlock.Client
	var err error
	// A busy machine may take longer than the row's command timeout.
	opened := func() bool {
		c, err = rlock.Open(l.Context(), u.String(), slices.Concat(options, l.row.options)...)
		return err == nil
	}
	if !testbed.Within(soon, opened) {
		l.Fatal(err)
	}
	l.Cleanup(func() { c.Close() })
	return c
}

// finish closes the lane's clients and sees that they hang up.
func (l *lane) finish() {
	l.client.Close()
	l.rival.Close()
	l.direct.Close()
	open := func(c faultproxy.Conn) bool { return c.Open }
	for _, p := range []*faultproxy.Proxy{l.proxy, l.second} {
		if p != nil && !testbed.Within(soon, func() bool { return !slices.ContainsFunc(p.Log(), open) }) {
			l.row.violates("a closed client keeps connections open")
		}
	}
	l.counts(l.granted(), 0)
}

// counts adds to what the server's own count is held against in the end.
func (s *site) counts(grants, expired int) {
	s.row.mu.Lock()
	defer s.row.mu.Unlock()
	s.grants += grants
	s.expired += expired
}

// granted counts the acquires through the proxy that ran and were granted, whatever became of their replies. A grant
// with a token is an array. What stood behind a command whose connection was cut may have run, and nobody saw its reply.
func (l *lane) granted() (n int) {
	for _, e := range l.proxy.Record() {
		_, token := e.Reply.([]any)
		switch {
		case !acquires(e.Cmd):
		case e.Answered.IsZero() && e.Did == 0:
			l.unseen.Store(true)
		case !e.Answered.IsZero() && (e.Reply == nil || token) && e.Did != faultproxy.Answer:
			n++
		}
	}
	return n
}

// round is one case: a fault and its lock.
type round struct {
	*lane
	i     int
	name  string
	began time.Time
	lock  *rlock.Lock // the faulted client's
	his   *rlock.Lock // the rival's

	tokens *atomic.Int64 // the highest that a call returned
}

func (l *lane) play(i int) {
	r := &round{lane: l, i: i, name: fmt.Sprintf("fault-%d", i), began: time.Now(), tokens: new(atomic.Int64)}
	kind := l.row.kind
	r.lock, r.his = kind.New(l.client, r.name), kind.New(l.rival, r.name)
	if kind.Mode == "read" { // nobody keeps a reader out but a writer
		r.his = l.rival.NewReadWriteLock(r.name).WriteLock()
	}
	l.auditor.watch(r.name)
	defer l.auditor.unwatch(r.name)
	l.row.round(r)
}

// variant chooses among n in turn, both along a lane and across lanes.
func (r *round) variant(n int) int { return (r.i/r.row.lanes + r.i) % n }

// violates records what must never be seen, with what passed the proxy for this lock.
func (r *round) violates(format string, args ...any) {
	r.Helper()
	s := r.row.seen(r.name)
	r.row.violates("round %d: %s%s", r.i, fmt.Sprintf(format, args...), s)
	r.Fail()
}

// hit is a rule for one command of this round.
func (r *round) hit(match faultproxy.Match, times int, do faultproxy.Action) *faultproxy.Handle {
	return r.proxy.Add(faultproxy.Rule{Match: faultproxy.All(match, faultproxy.Key(r.name)), Times: times + r.row.again, Do: do, Delay: r.tooLate()})
}

// tooLate is after how long a reply comes that is late: even a busy machine has given it up.
func (r *round) tooLate() time.Duration { return 3 * r.row.timeout }

// expects fails with these words unless a state comes in so long.
func (r *round) expects(within time.Duration, words string, state func() bool) {
	r.Helper()
	if !testbed.Within(within, state) {
		r.violates("%s", words)
	}
}

// count is how many of this round's commands are such.
func (r *round) count(such func(e faultproxy.Exchange) bool) (n int) {
	for _, e := range r.proxy.Record() {
		if faultproxy.Key(r.name)(e.Cmd) && such(e) {
			n++
		}
	}
	return n
}

// ran counts those that met a fault and ran.
func (r *round) ran() int {
	return r.count(func(e faultproxy.Exchange) bool {
		_, refused := e.Reply.(faultproxy.Error)
		return e.Did != 0 && e.Did != faultproxy.Answer && !e.Answered.IsZero() && !refused
	})
}

// answered counts those that the server has answered.
func (r *round) answered(match faultproxy.Match) int {
	return r.count(func(e faultproxy.Exchange) bool { return match(e.Cmd) && !e.Answered.IsZero() })
}

// acquiring calls on a goroutine; what it gets is believed at once.
func (r *round) acquiring(fn func() (*rlock.Hold, error)) <-chan testbed.Entry {
	return testbed.Acquire(func() (*rlock.Hold, error) {
		h, err := fn()
		if err == nil {
			r.auditor.believe(h)
			r.tokens.Store(max(r.tokens.Load(), h.Token()))
		}
		return h, err
	})
}

func (r *round) await(c <-chan testbed.Entry) testbed.Entry {
	r.Helper()
	return returned(r, c)
}

// returned is what a call comes to that must not take long.
func returned[T any](r *round, c <-chan T) T {
	r.Helper()
	select {
	case got := <-c:
		return got
	case <-time.After(soon):
		r.violates("a call did not return within %v", soon)
		r.FailNow()
		panic("not reached")
	}
}

// lost releases a hold that was lost.
func (r *round) lost(h *rlock.Hold) {
	r.Helper()
	if kind := kindOf(h.Unlock(context.Background())); kind != lostNotHeld {
		r.violates("Unlock of a lost hold: %s", kind)
	}
}

// take acquires without a fault.
func (r *round) take(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	got := r.await(r.acquiring(func() (*rlock.Hold, error) { return l.Lock(r.Context(), opts...) }))
	for began := time.Now(); time.Since(began) < soon && r.excused(got.Err); {
		if l == r.his {
			r.unseen.Store(true) // it may have run, and passed no proxy
		}
		got = r.await(r.acquiring(func() (*rlock.Hold, error) { return l.Lock(r.Context(), opts...) }))
	}
	if got.Err != nil {
		r.violates("Lock without a fault: %v", got.Err)
		r.FailNow()
	}
	return got.Hold
}

// rivalTakes is take for the rival; it does not pass the proxy, so its grant is counted here.
func (r *round) rivalTakes() *rlock.Hold {
	r.Helper()
	h := r.take(r.his)
	r.counts(1, 0)
	return h
}

func (r *round) release(holds ...*rlock.Hold) {
	r.Helper()
	for _, h := range holds {
		if err := h.Unlock(context.Background()); err != nil && !r.excused(err) {
			r.violates("Unlock without a fault: %v", err)
		}
	}
}

// holds fails unless the server shows this owner alone with this count, and the holds say that they are valid.
func (r *round) holds(count int, holds ...*rlock.Hold) {
	r.Helper()
	for _, h := range holds {
		if err := h.Err(); err != nil {
			r.violates("a hold that should be valid: %v", err)
		}
	}
	if f := r.fields(); len(f) != 1 || f[testbed.Field(holds[0].Owner())] != count {
		r.violates("the server has %v, want %v alone with %d", f, holds[0].Owner(), count)
	}
}

func (r *round) fields() map[string]int {
	r.Helper()
	m, err := testbed.Counts(r.direct.Do("HGETALL", r.name))
	if err != nil {
		r.Fatal(err)
	}
	return m
}

// exact fails unless all that the server keeps of the lock goes with its counts and so many who wait.
func (r *round) exact(waiting int) {
	r.Helper()
	var odd []string
	if !testbed.Within(r.row.bound, func() bool {
		odd = r.row.kind.Odd(r.T, r.direct, r.name, waiting)
		if r.row.latches {
			odd = without(odd, "redisson_unlock_latch:")
		}
		return len(odd) == 0
	}) {
		r.violates("with %v held and %d waiting: %v", r.fields(), waiting, odd)
	}
}

// comesFree fails unless the lock is nobody's within the row's bound, and then lets the rival show that it can be had.
func (r *round) comesFree() {
	r.Helper()
	began := time.Now()
	free := func() bool { return len(r.fields()) == 0 }
	if !testbed.Within(r.row.bound, free) && !(machine.stood(r.began) && testbed.Within(soon, free)) {
		r.violates("%v after the fault the server still has %v", time.Since(began), r.fields())
		return
	}
	before := r.tokens.Load()
	h := r.rivalTakes()
	if r.row.kind.Tokens && h.Token() <= before {
		r.violates("token %d after token %d", h.Token(), before)
	}
	r.release(h)
	r.exact(0)
}

func (r *round) listens(n int) {
	r.Helper()
	testbed.BecomesWithin(r.T, soon, fmt.Sprintf("%d listen for %s", n, r.name), func() bool { return r.listeners() == n })
}

// waits has the client wait for the lock, which somebody else holds, and returns when it listens for its release.
func (r *round) waits() <-chan testbed.Entry { return r.joins(r.lock, 1) }

// joins has a client wait for the lock, and returns when that makes so many connections that listen for its release. A
// call that had no answer because the machine stood still is made again.
func (r *round) joins(l *rlock.Lock, n int) <-chan testbed.Entry {
	r.Helper()
	for {
		calls := r.acquiring(func() (*rlock.Hold, error) { return l.Lock(r.Context()) })
		listens := false
		testbed.Within(soon, func() bool {
			listens = r.listeners() == n
			return listens || len(calls) > 0
		})
		if listens {
			return calls
		}
		select {
		case got := <-calls:
			if !r.excused(got.Err) {
				r.Fatalf("the call did not wait: %v", got.Err)
			}
		default:
			r.Fatalf("it never listened for %s%s", r.name, r.row.seen(r.name))
		}
	}
}

func (r *round) listeners() int {
	r.Helper()
	return testbed.Subscribed(r.T, r.direct, r.name)
}

// excused tells whether an error says that no answer came, while the machine stood still in this round. It is counted.
func (r *round) excused(err error) bool {
	kind := kindOf(err)
	if kind != uncertain && kind != readOnly && !errors.Is(err, rlock.ErrUnavailable) || !machine.stood(r.began) {
		return false
	}
	r.row.outcome(kind+" while the testing machine stood still", 1)
	return true
}

// allowed counts a call's outcome and fails on one that is not among those that this fault may have.
func (r *round) allowed(what string, err error, kinds ...string) {
	r.Helper()
	kind := kindOf(err)
	if kind == undocumented {
		r.violates("an error that is not documented: %v", err)
		return
	}
	// With the reply of an unlock that ran, the replica's word on it may be lost.
	lostWord := kind == unreplicated && r.row.topology == sentinel
	for _, k := range kinds {
		if k == kind || k == ok && lostWord {
			r.row.outcome(what+kind, 1)
			return
		}
	}
	if !r.excused(err) {
		r.violates("%sended with %s: %v", what, kind, err)
	}
}
