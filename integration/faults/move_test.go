package faults

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// A hosted service has one address for its master. When it puts another server there, connections that exist stay with
// the old one, unless that is gone, and nobody tells the client.

// departure is what becomes of the old master once its replica has been promoted, before the address moves.
type departure struct {
	leaves  func(r *round, old *redisserver.LocalServer, direct redis.Conn, promoted string)
	returns func(r *round, old *redisserver.LocalServer) // so far that it can be told whom to follow
}

// demoted stays alive and follows the new master.
var demoted = departure{
	leaves: func(r *round, _ *redisserver.LocalServer, direct redis.Conn, promoted string) {
		host, port, _ := net.SplitHostPort(promoted)
		do(r.T, direct, "REPLICAOF", host, port)
		do(r.T, direct, "CLIENT", "UNPAUSE")
	},
	returns: func(*round, *redisserver.LocalServer) {},
}

var killed = departure{
	leaves:  func(_ *round, old *redisserver.LocalServer, _ redis.Conn, _ string) { old.Kill() },
	returns: func(_ *round, old *redisserver.LocalServer) { old.Restart() },
}

// paused keeps its connections and says nothing.
var paused = departure{
	leaves:  func(_ *round, old *redisserver.LocalServer, _ redis.Conn, _ string) { old.Pause() },
	returns: func(_ *round, old *redisserver.LocalServer) { old.Resume() },
}

// unmoved stays a master that takes writes.
var unmoved = departure{
	leaves: func(r *round, _ *redisserver.LocalServer, direct redis.Conn, _ string) {
		do(r.T, direct, "CLIENT", "UNPAUSE")
	},
	returns: func(*round, *redisserver.LocalServer) {},
}

// promote has the replica take over all that the master has, but the keys that it is to lack as if they had not reached
// it. What is sent while the master takes no more writes is left to the departure. The address is yet to move.
func (r *round) promote(d departure, lacks []string, meanwhile func()) {
	r.Helper()
	old, next := r.server, r.replica
	direct := r.direct
	do(r.T, direct, "CLIENT", "PAUSE", time.Minute.Milliseconds(), "WRITE")
	meanwhile()
	r.direct = dial(r.T, next)
	if !becomes(soon, func() bool {
		return info(r, direct, "master_repl_offset") == info(r, r.direct, "slave_repl_offset") && info(r, r.direct, "master_link_status") == "up"
	}) {
		r.Fatal("the replica does not catch up")
	}
	do(r.T, r.direct, "REPLICAOF", "NO", "ONE")
	for _, name := range lacks {
		if n := do(r.T, r.direct, "DEL", name); n != int64(1) {
			r.Fatalf("%s did not reach the replica", name)
		}
	}
	d.leaves(r, old, direct, next.Addr())
	direct.Close()
	r.site.server, r.site.replica = next, old
}

func info(r *round, c redis.Conn, field string) string {
	r.Helper()
	text, _ := redis.String(do(r.T, c, "INFO", "replication"), nil)
	_, rest, _ := strings.Cut(text, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r")
	return value
}

// follow makes the old master the replica of the new one, for the next round, and sees that no client is left there.
func (r *round) follow(d departure) {
	r.Helper()
	d.returns(r, r.replica)
	c := dial(r.T, r.replica)
	defer c.Close()
	host, port, _ := net.SplitHostPort(r.server.Addr())
	do(r.T, c, "REPLICAOF", host, port)
	do(r.T, c, "CLIENT", "UNPAUSE")
	if !becomes(soon, func() bool { return len(clients(r.T, c)) == 0 }) {
		r.violates("connections stay with the old master:\n%s", strings.Join(clients(r.T, c), "\n"))
	}
	do(r.T, r.direct, "CONFIG", "SET", "repl-diskless-sync-delay", 0)
	if !becomes(3*soon, func() bool { return info(r, c, "master_link_status") == "up" }) {
		r.Fatal("the old master does not follow")
	}
}

// reached counts commands of this round that are at the server without an answer.
func (r *round) reached(match faultproxy.Match) (n int) {
	for _, e := range r.proxy.Record() {
		if match(e.Cmd) && e.Answered.IsZero() && faultproxy.Key(r.name)(e.Cmd) {
			n++
		}
	}
	return n
}

// asked is a call that was made while the address moved.
type asked struct {
	*round
	done chan error
}

func (r *round) asks(fn func() error) asked {
	a := asked{r, make(chan error, 1)}
	go func() { a.done <- fn() }()
	return a
}

func (a asked) end() error {
	a.Helper()
	select {
	case err := <-a.done:
		return err
	case <-time.After(soon):
		a.violates("a call did not return within %v", soon)
		a.FailNow()
		panic("not reached")
	}
}

// held is a lock with its hold.
type held struct {
	*round
	hold *rlock.Hold
}

func (r *round) held(opts ...rlock.AcquireOption) held { return held{r, r.take(r.lock, opts...)} }

// unlocking sends the unlock, and returns when it is under way. A client has few batches at a server at a time, so what
// comes behind them may still wait its turn.
func (h held) unlocking() asked {
	h.Helper()
	a := h.asks(func() error { return h.hold.Unlock(context.Background()) })
	becomes(timeout/20, func() bool { return h.reached(unlocks) == 1 })
	return a
}

// locking is the same for an acquire.
func (r *round) locking() <-chan result {
	r.Helper()
	calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context()) })
	becomes(timeout/20, func() bool { return r.reached(acquires) == 1 })
	return calls
}

// queue is two who wait for the faulted client's hold: one in its own process and one in another.
type queue struct {
	held
	own, his <-chan result
}

func (r *round) queues() *queue {
	r.Helper()
	q := &queue{held: r.held()}
	q.own = r.acquiring(func() (*rlock.Hold, error) { return r.lock.Lock(r.Context()) })
	q.his = r.acquiring(func() (*rlock.Hold, error) { return r.his.Lock(r.Context()) })
	r.listens(2)
	return q
}

// advance releases, and has both enter one after the other.
func (q *queue) advance() {
	q.Helper()
	from := time.Now()
	q.release(q.hold)
	for range 2 {
		var got result
		select {
		case got = <-q.own:
		case got = <-q.his:
		case <-time.After(soon):
			q.violates("a waiter did not enter within %v of the release", soon)
			q.FailNow()
		}
		q.allowed("a waiter: ", got.err, ok)
		if got.err == nil {
			q.row.took("a waiter entered after the release", got.at.Sub(from))
			q.holds(1, got.hold)
			from = time.Now()
			q.release(got.hold)
		}
	}
	q.comesFree()
}

// crowded is callers who take one lock and release it all the time.
type crowded struct {
	*round
	stop    context.CancelFunc
	callers sync.WaitGroup
	inside  atomic.Int64
	entered atomic.Int64
}

func (r *round) crowds() *crowded {
	ctx, stop := context.WithCancel(r.Context())
	c := &crowded{round: r, stop: stop}
	for n := range 4 {
		l := []*rlock.Lock{r.lock, r.his}[n%2]
		c.callers.Go(func() {
			for ctx.Err() == nil {
				c.visit(ctx, l)
			}
		})
	}
	if !becomes(soon, func() bool { return c.entered.Load() > 4 }) {
		r.Fatal("nobody enters")
	}
	return c
}

func (c *crowded) visit(ctx context.Context, l *rlock.Lock) {
	h, err := l.Lock(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.allowed("Lock of many: ", err, uncertain, unreachable)
		}
		return
	}
	c.auditor.believe(h)
	if c.inside.Add(1) != 1 && h.Err() == nil {
		c.violates("two are inside")
	}
	c.entered.Add(1)
	<-time.After(time.Millisecond) // work has a length
	if err := h.Err(); err != nil {
		c.violates("a hold in use: %v", err)
	}
	c.inside.Add(-1)
	if err := h.Unlock(context.Background()); err != nil {
		c.allowed("Unlock of many: ", err, uncertain)
	}
}

// goesOn waits for somebody to enter from now on, and ends it all.
func (c *crowded) goesOn() {
	c.Helper()
	before := c.entered.Load()
	if !becomes(soon, func() bool { return c.entered.Load() > before+4 }) {
		c.violates("nobody enters any more")
	}
	c.stop()
	c.callers.Wait()
	c.comesFree()
}

// first measures how long nobody can lock after the move.
func (r *round) first(from time.Time) {
	r.Helper()
	for {
		h, err := r.lock.Lock(r.Context())
		at := time.Now()
		if err == nil {
			r.auditor.believe(h)
			r.row.took("first lock after", at.Sub(from))
			r.release(h)
			return
		}
		if at.Sub(from) > soon {
			r.violates("no lock for %v after the move: %v", at.Sub(from), err)
			return
		}
		r.allowed("Lock after the move: ", err, uncertain, unreachable)
	}
}

// atOnce is how soon after a move a hold is renewed or told as lost: on the next connection, and not when a renewal is
// due, which is after 10 s, or when its lease ends.
const atOnce = 5 * time.Second

// renewed sees that the hold's trust grows, counted from since.
func (h held) renewed(before, from, since time.Time) {
	h.Helper()
	if !becomes(time.Until(since.Add(atOnce)), func() bool { return h.hold.ValidUntil().Sub(before) > 5*time.Millisecond }) {
		h.violates("not renewed within %v", time.Since(from))
	}
	h.row.took("renewed after", time.Since(from))
}

// told sees that a hold ends whose key the new master lacks.
func (h held) told(from time.Time) {
	h.Helper()
	select {
	case <-h.hold.Done():
		h.row.took("told of a lost hold after", time.Since(from))
		h.allowed("hold whose key was lost: ", h.hold.Err(), leaseLost)
	case <-time.After(time.Until(from.Add(atOnce))):
		h.violates("not told of a lost hold within %v", time.Since(from))
	}
	if kind := kindOf(h.hold.Unlock(context.Background())); kind != lostNotHeld {
		h.violates("Unlock of a lost hold: %s", kind)
	}
}

// still sees that the hold is what it was, and ends it.
func (h held) still() {
	h.Helper()
	h.holds(1, h.hold)
	h.allowed("hold whose key was kept: ", h.hold.Err(), ok)
	h.release(h.hold)
	h.comesFree()
}

// moved has the address move to the promoted replica while locks are held, waited for, acquired and released.
func moved(d departure) func(*round) {
	return func(r *round) {
		all := r.several(12)
		locks := all
		next := func() (l *round) { l, locks = locks[0], locks[1:]; return l }
		fixed := rlock.Lease(30 * time.Second)

		kept := []held{next().held(), next().held(), next().held(fixed)}
		lost := []held{next().held(), next().held()}
		fixedLost := next().held(fixed)
		released := next().held()
		outer := next().held()
		inner := held{outer.round, outer.take(outer.lock, rlock.As(outer.hold.Owner()))}
		waited := next().queues()
		freed := next() // by the loss of its holder's key
		rival := freed.take(freed.his)
		entry := freed.acquiring(func() (*rlock.Hold, error) { return freed.lock.Lock(r.Context()) })
		freed.listens(1)
		crowd := next().crowds()
		probe := next()

		lacks := []string{freed.name, fixedLost.name}
		for _, h := range lost {
			lacks = append(lacks, h.name)
		}
		for _, name := range lacks {
			r.auditor.unwatch(name) // it would say what is known: they are believed in vain
		}
		before := kept[0].hold.ValidUntil()
		var underWay []asked
		var locked <-chan result
		from := r.movesTo(d, lacks, func() {
			locked = probe.locking()
			underWay = append(underWay, released.unlocking(), inner.unlocking())
		})

		var seen sync.WaitGroup
		for _, h := range kept[:2] {
			seen.Go(func() { h.renewed(before, from, from) })
		}
		for _, h := range lost {
			seen.Go(func() { h.told(from) })
		}
		got := probe.await(locked)
		probe.allowed("Lock under way: ", got.err, ok, uncertain)
		if got.err == nil {
			r.row.took("first lock after", got.at.Sub(from))
			probe.release(got.hold)
		}
		probe.first(from)
		for _, a := range underWay {
			a.allowed("Unlock under way: ", a.end(), ok)
		}
		seen.Wait()
		if r.Failed() {
			crowd.stop()
			crowd.callers.Wait()
			r.FailNow()
		}
		in := freed.await(entry)
		freed.allowed("waiter whose lock was lost: ", in.err, ok)
		r.row.took("a waiter whose lock was lost entered after", in.at.Sub(from))
		if in.err == nil {
			if kind := kindOf(rival.Unlock(context.Background())); kind != notHeld && kind != lostNotHeld {
				freed.violates("Unlock of a lost hold: %s", kind)
			}
			freed.holds(1, in.hold)
			freed.release(in.hold)
		}
		// Nothing renews it, so nothing asks.
		fixedLost.allowed("Unlock of a fixed lease whose key was lost: ", fixedLost.hold.Unlock(context.Background()), notHeld, lostNotHeld)
		for _, h := range append(kept, outer) {
			h.still()
		}
		waited.advance()
		crowd.goesOn()
		for _, l := range []*round{freed, probe, released.round} {
			l.comesFree()
		}
		r.follow(d)
		for _, l := range all {
			r.auditor.unwatch(l.name)
		}
		r.row.counted(1, -1)
	}
}

// movesTo has the address lead to the promoted replica, and returns when it does.
func (r *round) movesTo(d departure, lacks []string, meanwhile func()) time.Time {
	r.Helper()
	look := r.auditor.rests()
	defer func() { look(r.server.URL()) }() // also if this fails: the auditor is to end
	r.promote(d, lacks, meanwhile)
	r.proxy.Move(r.server.Addr())
	return time.Now()
}

// nameIt gives the lane's address a name, and has a second proxy at the address that the name is to move to.
func (l *lane) nameIt(addr string) string {
	l.Helper()
	_, port, _ := net.SplitHostPort(addr)
	l.second = faultproxy.StartAt(l.T, net.JoinHostPort("127.0.0.2", port), l.replica.Addr())
	l.host = fmt.Sprintf("lane-%d.moves.test", l.number)
	names.set(l.host, "127.0.0.1")
	return net.JoinHostPort(l.host, port)
}

// afresh gives the lane new clients.
func (l *lane) afresh() {
	l.Helper()
	_, port, _ := net.SplitHostPort(l.proxy.Addr())
	for _, c := range []**rlock.Client{&l.client, &l.rival} {
		(*c).Close()
		*c = l.open(net.JoinHostPort(l.host, port), true)
	}
}

// renamed has the lane's name lead to the promoted replica, while the old master lives on and takes writes. Nothing
// breaks: the client has to find out by itself.
func renamed(r *round) {
	r.afresh() // a client that has just moved looks less often
	all := r.several(5)
	fixed := rlock.Lease(30 * time.Second)
	kept := []held{all[0].held(), all[1].held(), all[2].held(fixed)}
	waited := all[3].queues()
	before := kept[0].hold.ValidUntil()

	look := r.auditor.rests()
	followed := false
	defer func() {
		if !followed {
			look(r.server.URL())
		}
	}()
	direct := dial(r.T, r.server) // which is to be left
	r.promote(unmoved, nil, func() {})
	names.set(r.host, map[bool]string{true: "127.0.0.1", false: "127.0.0.2"}[r.proxy.Server() == r.server.Addr()])
	from := time.Now()

	if !becomes(2*soon, func() bool { return len(clients(r.T, direct)) == 0 }) {
		r.violates("%v after the name moved they are still there:\n%s", time.Since(from), strings.Join(clients(r.T, direct), "\n"))
		r.FailNow()
	}
	r.row.took("gone from the old server after", time.Since(from))
	for _, h := range kept[:2] {
		h.renewed(before, from, time.Now())
	}
	waited.listens(2)
	r.row.took("subscribed at the new one after", time.Since(from))
	look(r.server.URL())
	followed = true
	probe := all[4]
	probe.first(from)
	for _, h := range kept {
		h.still()
	}
	waited.advance()
	probe.comesFree()
	direct.Close()
	r.follow(unmoved)
	for _, l := range all {
		r.auditor.unwatch(l.name)
	}
	r.row.counted(1, -1)
}

// misled has the address lead to a replica that stays one, for longer than any call is patient, and back.
func misled(r *round) {
	all := r.several(4)
	first, asker := all[0].held(), all[1]
	waited := all[2].queues()
	released := all[3].held()

	r.proxy.Move(r.replica.Addr())
	r.proxy.CutAll()
	astray := time.Now()
	unlocked := released.asks(func() error { return released.hold.Unlock(context.Background()) })
	_, err := asker.lock.Lock(r.Context()) // which may be under way when the connection is cut
	asker.allowed("first Lock: ", err, uncertain, unreachable)
	began := time.Now()
	_, err = asker.lock.Lock(r.Context())
	r.row.took("reported after", time.Since(began))
	asker.allowed("next Lock: ", err, unreachable, uncertain) // uncertain while the first one's outcome is
	for _, part := range []string{"read-only", "ROLE says slave of " + r.server.Addr()} {
		if !strings.Contains(fmt.Sprint(err), part) {
			asker.violates("the error does not say %q: %v", part, err)
		}
	}
	r.row.most("connects while it led there", float64(r.connects(astray)))
	r.proxy.Move(r.server.Addr())
	from := time.Now()
	released.allowed("Unlock: ", unlocked.end(), ok)
	asker.first(from)
	first.still()
	waited.advance()
	for _, l := range []*round{released.round, asker} {
		l.comesFree()
	}
	c := dial(r.T, r.replica)
	defer c.Close()
	if !becomes(soon, func() bool { return len(clients(r.T, c)) == 0 }) {
		r.violates("connections stay with the replica:\n%s", strings.Join(clients(r.T, c), "\n"))
	}
	for _, l := range all {
		r.auditor.unwatch(l.name)
	}
	r.row.counted(1, -1)
}

// connects counts the connections that were made since, and asked something.
func (r *round) connects(since time.Time) int {
	at := map[int]bool{}
	for _, e := range r.proxy.Record() {
		if e.Cmd != nil && e.Sent.After(since) {
			at[e.Conn] = true
		}
	}
	return len(at)
}

var moves = []scenario{
	{fault: "the server's address leads to its promoted replica, and the old master follows it", by: "servers: REPLICAOF; proxy: leads elsewhere", times: 20, lanes: 4,
		alone: true, moves: true, inexact: true, latches: true, bound: 3 * time.Second, round: moved(demoted)},
	{fault: "the same, and the old master is gone", by: "servers: REPLICAOF, SIGKILL; proxy: leads elsewhere", times: 20, lanes: 4,
		alone: true, moves: true, inexact: true, latches: true, bound: 3 * time.Second, round: moved(killed)},
	{fault: "the same, and the old master says nothing any more", by: "servers: REPLICAOF, SIGSTOP; proxy: leads elsewhere", times: 20, lanes: 4,
		alone: true, moves: true, inexact: true, latches: true, bound: 3 * time.Second, round: moved(paused)},
	{fault: "the server's address leads to a replica that stays one, for 0.4 s, and back", by: "proxy: leads elsewhere, cut", times: 20, lanes: 4,
		alone: true, moves: true, inexact: true, latches: true, bound: 3 * time.Second, round: misled},
	{fault: "the server's name gets another address, and the old master goes on as one", by: "servers: REPLICAOF; a name server", times: 20, lanes: 5,
		alone: true, moves: true, named: true, inexact: true, latches: true, parallel: true, bound: 3 * time.Second, round: renamed},
}
