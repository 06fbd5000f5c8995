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

// The commands that the proxy looks for.
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
	host   string            // in a named row: the server's name
	second *faultproxy.Proxy // in a named row: at the same port of the address to which the name moves
	client *rlock.Client     // behind the proxy: the one that the faults hit
	rival  *rlock.Client     // directly to the server, unless its address moves
	direct redis.Conn        // the lane's own connection to the server, past the proxy
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

// finish closes the lane's clients and checks that their connections end.
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

// counts adds to the numbers that finish compares with the server's own count.
func (s *site) counts(grants, expired int) {
	s.row.mu.Lock()
	defer s.row.mu.Unlock()
	s.grants += grants
	s.expired += expired
}

// granted counts the acquires through the proxy that were granted, even if their replies were lost. A grant with a token
// is an array. A command behind one whose connection was cut may have run without a reply: then granted sets unseen.
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

	tokens *atomic.Int64 // the highest token that a call returned
}

func (l *lane) play(i int) {
	r := &round{lane: l, i: i, name: fmt.Sprintf("fault-%d", i), began: time.Now(), tokens: new(atomic.Int64)}
	kind := l.row.kind
	r.lock, r.his = kind.New(l.client, r.name), kind.New(l.rival, r.name)
	if kind.Mode == "read" { // only a writer keeps a reader out
		r.his = l.rival.NewReadWriteLock(r.name).WriteLock()
	}
	l.auditor.watch(r.name)
	defer l.auditor.unwatch(r.name)
	l.row.round(r)
}

// variant chooses among n in turn, both along a lane and across lanes.
func (r *round) variant(n int) int { return (r.i/r.row.lanes + r.i) % n }

// violates records a violation, with what passed the proxy for this lock.
func (r *round) violates(format string, args ...any) {
	r.Helper()
	s := r.row.seen(r.name)
	r.row.violates("round %d: %s%s", r.i, fmt.Sprintf(format, args...), s)
	r.Fail()
}

// hit makes a fault for times matching commands of this round, and for row.again more.
func (r *round) hit(match faultproxy.Match, times int, do faultproxy.Action) *faultproxy.Handle {
	return r.proxy.Add(faultproxy.Rule{Match: faultproxy.All(match, faultproxy.Key(r.name)), Times: times + r.row.again, Do: do, Delay: r.tooLate()})
}

// tooLate is the delay of a late reply. Even on a busy machine the client has given up by then.
func (r *round) tooLate() time.Duration { return 3 * r.row.timeout }

// expects fails with these words unless the state comes in time.
func (r *round) expects(within time.Duration, words string, state func() bool) {
	r.Helper()
	if !testbed.Within(within, state) {
		r.violates("%s", words)
	}
}

// count returns how many of this round's commands such accepts.
func (r *round) count(such func(e faultproxy.Exchange) bool) (n int) {
	for _, e := range r.proxy.Record() {
		if faultproxy.Key(r.name)(e.Cmd) && such(e) {
			n++
		}
	}
	return n
}

// ran counts the commands that a fault hit and that ran.
func (r *round) ran() int {
	return r.count(func(e faultproxy.Exchange) bool {
		_, refused := e.Reply.(faultproxy.Error)
		return e.Did != 0 && e.Did != faultproxy.Answer && !e.Answered.IsZero() && !refused
	})
}

// answered counts the matching commands that the server has answered.
func (r *round) answered(match faultproxy.Match) int {
	return r.count(func(e faultproxy.Exchange) bool { return match(e.Cmd) && !e.Answered.IsZero() })
}

// acquiring calls fn on a goroutine. The auditor knows of the hold at once.
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

// returned waits for the result of a call, which must come within soon.
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

// lost unlocks a hold that was lost. It must return ErrLeaseLost and ErrNotHeld.
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
			r.unseen.Store(true) // it may have run, and no proxy saw it
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
	testbed.Must(r, err)
	return m
}

// exact fails unless all that the server has for the lock matches its counts and this number of waiters.
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

// comesFree fails unless the lock is free within the row's bound and the rival can then acquire it.
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

// waits lets the client wait for the lock, which somebody else holds, and returns when it has subscribed.
func (r *round) waits() <-chan testbed.Entry { return r.joins(r.lock, 1) }

// joins lets a client wait for the lock, and returns when n connections have subscribed. It repeats a call that got no
// reply because the machine stood still.
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

// excused reports whether an error says that no reply came and the machine stood still in this round. It counts these.
func (r *round) excused(err error) bool {
	kind := kindOf(err)
	if kind != uncertain && kind != readOnly && !errors.Is(err, rlock.ErrUnavailable) || !machine.stood(r.began) {
		return false
	}
	r.row.outcome(kind+" while the testing machine stood still", 1)
	return true
}

// allowed counts a call's outcome, and fails if it is not one of kinds and not excused.
func (r *round) allowed(what string, err error, kinds ...string) {
	r.Helper()
	kind := kindOf(err)
	if kind == undocumented {
		r.violates("an error that is not documented: %v", err)
		return
	}
	// When the reply to an unlock is lost, so may be the replica's acknowledgement.
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
