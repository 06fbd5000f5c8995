package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

func planned(set *redistest.SentinelSet, master *redistest.Server) {
	set.Failover(set.Sentinels[2])
	set.AwaitMaster(master)
}

func masterKilled(set *redistest.SentinelSet, master *redistest.Server) {
	master.Kill()
	set.AwaitMaster(master)
}

func addrs(servers []*redistest.Server) (all []string) {
	for _, n := range servers {
		all = append(all, n.Addr())
	}
	return all
}

// failover leaves the master of a set behind Sentinels while five locks are held and waited for.
func failover(leave func(*redistest.SentinelSet, *redistest.Server)) func(*stage) {
	return func(s *stage) {
		set := redistest.StartSentinels(s.t, redistest.SentinelPasswords{})
		clients := s.several(opening{sentinels: addrs(set.Sentinels)})
		var holds []entry
		var did []func() deeds
		const each = 5
		for i := range each {
			e := s.enter(context.Background(), clients[0], fmt.Sprint(s.name, ":", i))
			if e.err != nil {
				fail("lock: %w", e.err)
			}
			holds = append(holds, e)
		}
		time.Sleep(100 * time.Millisecond) // the replicas have them
		for _, e := range holds {
			did = append(did, e.works(lease-500*time.Millisecond))
		}
		from := time.Now()
		leave(set, set.Master())
		away := time.Since(from)
		told := 0
		for _, d := range did {
			if d().Told > 0 {
				told++
			}
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		slowest, lost, wrong := time.Duration(0), false, 0
		for i, e := range holds {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
				defer cancel()
				err := e.hold.unlock(ctx)
				in := s.enter(ctx, clients[1], fmt.Sprint(s.name, ":", i))
				if in.err == nil {
					in.leave()
				}
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					wrong++
				}
				slowest, lost = max(slowest, time.Since(from)), lost || in.err != nil
			})
		}
		all.Wait()
		s.add("the new master is named after", "ms", "", float64(away.Milliseconds()))
		s.number("holds told as lost, of 5", float64(told))
		s.number("unlocks with an error, of 5", float64(wrong))
		s.after("each lock entered again after", slowest, !lost)
	}
}

// slotMoved has the slot of five locks move to another master, with their keys, while each is held, renewed and waited for.
func slotMoved(s *stage) {
	set := topologytest.Start(s.t, 1, 1)
	clients := s.several(opening{cluster: addrs(set.Servers)})
	const each = 5
	name := func(i int) string { return fmt.Sprint("{", s.name, "}:", i) }
	var holds []entry
	var did []func() deeds
	var next []func(time.Duration) (entry, bool)
	for i := range each {
		e := s.enter(context.Background(), clients[0], name(i))
		if e.err != nil {
			fail("lock: %w", e.err)
		}
		holds = append(holds, e)
		did = append(did, e.works(lease+time.Second))
	}
	for i := range each {
		next = append(next, s.begins(clients[1], name(i)))
	}
	time.Sleep(250 * time.Millisecond) // they have been refused and wait, also in a JVM
	slot := codec.Slot(s.p.key(name(0)))
	from, to := 0, 1
	if !set.Has(from, slot) {
		from, to = to, from
	}
	began := time.Now()
	set.Move(from, to, slot)
	took := time.Since(began)
	told, wrong := 0, 0
	for _, d := range did {
		if d().Told > 0 {
			told++
		}
	}
	slowest, lost := time.Duration(0), false
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, e := range holds {
		all.Go(func() {
			began := time.Now()
			err := e.leave()
			in, ok := next[i](limit)
			s.done(in, ok)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				wrong++
			}
			slowest, lost = max(slowest, in.at.Sub(began)), lost || !ok
		})
	}
	all.Wait()
	s.add("the slot has moved after", "ms", "", float64(took.Milliseconds()))
	s.number("holds told as lost, of 5", float64(told))
	s.number("unlocks with an error, of 5", float64(wrong))
	s.after("each waiter enters after the unlock", slowest, !lost)
}
