package faults

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func (r *round) several(n int) []*round {
	all := make([]*round, n)
	for i := range all {
		sub := *r
		sub.name = fmt.Sprintf("%s-%d", r.name, i)
		sub.lock, sub.his = r.client.NewLock(sub.name), r.rival.NewLock(sub.name)
		r.auditor.watch(sub.name)
		all[i] = &sub
	}
	return all
}

// lostWhileHeld: the server loses its data while locks are held. Others can enter at once, and each hold reports its
// loss at the next renewal.
func lostWhileHeld(lose func(*round)) func(*round) {
	return func(r *round) {
		locks := r.several(r.row.batch)
		holds := make([]*rlock.Hold, len(locks))
		for i, l := range locks {
			holds[i] = l.take(l.lock)
		}
		lose(r)
		from := time.Now()
		others := make([]*rlock.Hold, len(locks))
		for i, l := range locks {
			others[i] = l.take(l.his)
		}
		var all sync.WaitGroup
		for i, h := range holds {
			all.Go(func() {
				// Renewals come every third of the lease, counted from the acquire.
				limit := time.After(lease()/3 + 2*time.Second)
				select {
				case <-h.Done():
				case <-limit:
					r.violates("not told within %v", time.Since(from))
					return
				}
				r.row.took("told after", time.Since(from))
				locks[i].allowed("", h.Err(), leaseLost)
			})
		}
		all.Wait()
		for i, l := range locks {
			l.lost(holds[i])
			l.holds(1, others[i])
			l.release(others[i])
			r.auditor.unwatch(l.name)
		}
		r.row.counted(len(locks), -1)
	}
}

// lostWhileWaited: the server loses the lock that somebody waits for.
func lostWhileWaited(r *round) {
	first := r.rivalTakes()
	calls := r.waits()
	wipe(r)
	from := time.Now()
	got := r.await(calls)
	r.allowed("", got.Err, ok)
	r.within(from, got.At)
	if got.Err == nil {
		// The former holder learns of the loss by its unlock, which must not release the other's hold.
		r.lost(first)
		r.holds(1, got.Hold)
		r.release(got.Hold)
	}
	r.comesFree()
	r.row.counted(1, -1)
}

// forget makes the auditor stop reading a round's locks.
func (r *round) forget(locks []*round) {
	for _, l := range locks {
		r.auditor.unwatch(l.name)
	}
}

// within checks that a waiter entered within a second of from, or of when its subscription was back, and within 3 s of
// from. How soon the subscription is back depends on the pauses between attempts to connect.
func (r *round) within(from, at time.Time) {
	r.Helper()
	channel := codec.Channel(r.name)
	back := from
	for _, e := range r.proxy.Record() {
		if faultproxy.Command("SUBSCRIBE")(e.Cmd) && slices.Contains(e.Cmd, channel) && e.Answered.After(back) && e.Answered.Before(at) {
			back = e.Answered
		}
	}
	r.row.took("back and listening after", back.Sub(from))
	r.row.took("entered after that", at.Sub(back))
	if at.Sub(back) > time.Second || at.Sub(from) > 3*time.Second {
		r.violates("listening after %v, entered %v after that", back.Sub(from), at.Sub(back))
	}
}

// keptWhileHeld: the server dies and comes back with its data.
func keptWhileHeld(r *round) {
	locks := r.several(r.row.batch)
	holds := make([]*rlock.Hold, len(locks))
	for i, l := range locks {
		holds[i] = l.take(l.lock)
	}
	crash(r)
	for i, l := range locks {
		l.holds(1, holds[i])
		l.allowed("", holds[i].Err(), ok)
		l.release(holds[i])
		l.comesFree()
		r.auditor.unwatch(l.name)
	}
	r.row.counted(len(locks), -1)
}

// keptWhileWaited is the same while somebody waits for the lock.
func keptWhileWaited(r *round) {
	first := r.rivalTakes()
	calls := r.waits()
	crash(r)
	r.holds(1, first)
	from := time.Now()
	r.release(first)
	got := r.await(calls)
	r.allowed("", got.Err, ok)
	r.within(from, got.At)
	r.inside(got)
	r.comesFree()
	r.row.counted(1, -1)
}

func (l *lane) reconnect() {
	l.direct.Close()
	l.direct = l.dial(l.T)
}

func flush(r *round) { testbed.Do(r.T, r.direct, "FLUSHALL") }

func wipe(r *round) {
	r.server.Wipe()
	r.reconnect()
}

func crash(r *round) {
	r.server.Kill()
	r.server.Restart()
	r.reconnect()
}

var aof = []string{"--appendonly", "yes", "--appendfsync", "always"}

func dataFaultsFor() []scenario {
	dog := []rlock.Option{rlock.WithWatchdogTimeout(lease())}
	return []scenario{
		{fault: "server killed and restarted with its data (AOF, fsync always) while held", by: "server: SIGKILL", times: 100, batch: 5, lanes: 4, alone: true, args: aof, inexact: true, round: keptWhileHeld},
		{fault: "the same while waited for", by: "server: SIGKILL", times: 20, lanes: 4, alone: true, args: aof, inexact: true, round: keptWhileWaited},
		{fault: "server restarted empty while waited for", by: "server: stop, remove data, start", times: 20, lanes: 4, alone: true, loses: true, round: lostWhileWaited},
		{fault: "server restarted empty while held", by: "server: stop, remove data, start", times: 100, batch: 25, lanes: 4, alone: true, loses: true, parallel: true, options: dog,
			remark: "others are inside meanwhile: no lock with a lease can prevent that", round: lostWhileHeld(wipe)},
		{fault: "FLUSHALL while held", by: "server: FLUSHALL", times: 100, batch: 25, lanes: 4, alone: true, loses: true, parallel: true, options: dog,
			remark: "others are inside meanwhile: `Err` can't cover it", round: lostWhileHeld(flush)},
	}
}
