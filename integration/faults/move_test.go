package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// moved moves the address to the promoted replica while locks are held, waited for, acquired and released.
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
		// The count may be higher by a re-entry that got no reply because the machine stood still.
		testbed.Do(r.T, r.direct, "HSET", outer.name, testbed.Field(outer.hold.Owner()), 2)
		waited := next().queues()
		freed := next() // its holder's key will be lost
		rival := freed.take(freed.his)
		entry := freed.waits()
		crowd := next().crowds()
		probe := next()

		lacks := []string{freed.name, fixedLost.name}
		for _, h := range lost {
			lacks = append(lacks, h.name)
		}
		for _, name := range lacks {
			r.auditor.unwatch(name) // it would report what is known: these are wrongly believed held
		}
		before := kept[0].hold.ValidUntil()
		var unlocked, left asked
		var locked <-chan testbed.Entry
		var began time.Time
		from := r.movesTo(d, lacks, func() {
			began = time.Now()
			locked = probe.locking()
			unlocked, left = released.unlocking(), inner.unlocking()
		})

		var seen sync.WaitGroup
		for _, h := range kept[:2] {
			seen.Go(func() { h.renewed(before, from, from) })
		}
		for _, h := range lost {
			seen.Go(func() { h.told(from) })
		}
		got := probe.await(locked)
		// A slow machine may need more than a command timeout to reach the new master. No call gives up before that (A7).
		probe.allowed("Lock under way: ", got.Err, ok, uncertain, unreachable, readOnly)
		if waited, kind := got.At.Sub(began), kindOf(got.Err); (kind == unreachable || kind == readOnly) && waited < r.row.timeout {
			probe.violates("Lock under way gave up after %v, before a command timeout: %v", waited, got.Err)
		}
		if got.Err == nil {
			r.row.took("first lock after", got.At.Sub(from))
			probe.release(got.Hold)
		}
		probe.first(from)
		if !unlocked.settles() {
			released.tidies(released.hold.Owner())
		}
		counted := left.settles()
		seen.Wait()
		if r.Failed() {
			r.FailNow()
		}
		in := freed.await(entry)
		freed.allowed("waiter whose lock was lost: ", in.Err, ok)
		r.row.took("a waiter whose lock was lost entered after", in.At.Sub(from))
		if in.Err == nil {
			freed.lost(rival)
			freed.holds(1, in.Hold)
			freed.release(in.Hold)
		}
		// A fixed lease is not renewed, so its loss shows only at the unlock.
		fixedLost.allowed("Unlock of a fixed lease whose key was lost: ", fixedLost.hold.Unlock(context.Background()), lostNotHeld)
		for _, h := range kept {
			h.still()
		}
		if counted {
			outer.still()
		} else { // its count may be one too high
			outer.release(outer.hold)
			outer.tidies(outer.hold.Owner())
			outer.comesFree()
		}
		waited.advance()
		crowd.goesOn()
		for _, l := range []*round{freed, probe, released.round} {
			l.comesFree()
		}
		r.follow(d)
		r.forget(all)
		r.row.counted(1, -1)
	}
}

// renamed moves the lane's name to the promoted replica, while the old master lives on and takes writes. No connection
// breaks: the client has to find out by itself.
func renamed(r *round) {
	r.afresh() // a client that has just moved checks the name less often
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
	direct := testbed.Dial(r.T, r.server) // the clients have to leave it
	r.promote(unmoved, nil, func() {})
	names.set(r.host, map[bool]string{true: "127.0.0.1", false: "127.0.0.2"}[r.proxy.Server() == r.server.Addr()])
	from := time.Now()

	if !testbed.Within(2*soon, func() bool { return len(testbed.Clients(r.T, direct)) == 0 }) {
		r.violates("%v after the name moved they are still there:\n%s", time.Since(from), strings.Join(testbed.Clients(r.T, direct), "\n"))
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
	r.forget(all)
	r.row.counted(1, -1)
}

// misled moves the address to a replica that is not promoted, for longer than any call waits for it, and then back.
func misled(r *round) {
	all := r.several(4)
	first, asker := all[0].held(), all[1]
	waited := all[2].queues()
	released := all[3].held()

	r.proxy.Move(r.replica.Addr())
	r.proxy.CutAll()
	astray := time.Now()
	unlocked := released.asks(func() error { return released.hold.Unlock(context.Background()) })
	_, err := asker.lock.Lock(r.Context()) // it may be under way when the connection is cut
	asker.allowed("first Lock: ", err, uncertain, unreachable)
	began := time.Now()
	_, err = asker.lock.Lock(r.Context())
	r.row.took("reported after", time.Since(began))
	asker.allowed("next Lock: ", err, unreachable, uncertain) // uncertain while the first one's outcome is
	for _, part := range []string{"is a replica of " + r.server.Addr(), "use the master"} {
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
	c := testbed.Dial(r.T, r.replica)
	defer c.Close()
	if !testbed.Within(soon, func() bool { return len(testbed.Clients(r.T, c)) == 0 }) {
		r.violates("connections stay with the replica:\n%s", strings.Join(testbed.Clients(r.T, c), "\n"))
	}
	r.forget(all)
	r.row.counted(1, -1)
}

// connects counts the connections on which a command was sent after since.
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
		timeout: 500 * time.Millisecond, remark: "the command timeout is 500 ms",
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
