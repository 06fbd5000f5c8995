package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

func planned(set *redistest.SentinelSet, master *redistest.Server) {
	set.Failover(set.Sentinels[2])
	set.AwaitMaster(master)
}

func masterKilled(set *redistest.SentinelSet, master *redistest.Server) {
	set.AllowFailover()
	master.Kill()
	set.AwaitMaster(master)
}

func addrs(servers []*redistest.Server) (all []string) {
	for _, n := range servers {
		all = append(all, n.Addr())
	}
	return all
}

// five takes five locks.
func (s *stage) five(c *service, name func(int) string) (holds []entry) {
	for i := range 5 {
		holds = append(holds, s.holding(c, name(i)))
	}
	return holds
}

// workAll is works for several holds. The function counts the holders that were told of a loss.
func workAll(holds []entry, d time.Duration) (told func() int) {
	var did []func() deeds
	for _, e := range holds {
		did = append(did, e.works(d))
	}
	return func() (n int) {
		for _, d := range did {
			if d().Told > 0 {
				n++
			}
		}
		return n
	}
}

// handOn unlocks all at once and has each lock entered again. It records the slowest, and the unlocks' errors.
func (s *stage) handOn(holds []entry, told int, what string, step func(i int, e entry) (took time.Duration, in bool, err error)) {
	var all sync.WaitGroup
	var mu sync.Mutex // guards what follows
	slowest, entered, wrong := time.Duration(0), true, 0
	for i, e := range holds {
		all.Go(func() {
			took, in, err := step(i, e)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				wrong++
			}
			slowest, entered = max(slowest, took), entered && in
		})
	}
	all.Wait()
	s.number("holds told as lost, of 5", float64(told))
	s.number("unlocks with an error, of 5", float64(wrong))
	s.after(what, slowest, entered)
}

// failover changes the master of a set behind Sentinels while five locks are held.
func failover(leave func(*redistest.SentinelSet, *redistest.Server)) func(*stage) {
	return func(s *stage) {
		set := redistest.StartSentinels(s.t, redistest.SentinelPasswords{})
		o := opening{sentinels: addrs(set.Sentinels)}
		c, other := s.open(o), s.open(o)
		name := func(i int) string { return fmt.Sprint(s.name, ":", i) }
		holds := s.five(c, name)
		time.Sleep(100 * time.Millisecond) // until the replicas have them
		told := workAll(holds, lease-500*time.Millisecond)
		from := time.Now()
		leave(set, set.Master())
		s.add("the new master is named after", "ms", "", float64(time.Since(from).Milliseconds()))
		s.handOn(holds, told(), "each lock entered again after", func(i int, e entry) (time.Duration, bool, error) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
			defer cancel()
			err := e.hold.unlock(ctx)
			in := s.enter(ctx, other, name(i))
			in.leave()
			return time.Since(from), in.err == nil, err
		})
	}
}

// slotMoved moves the slot of five locks, with their keys, to another master while each is held and waited for.
func slotMoved(s *stage) {
	set := topologytest.Start(s.t, 1, 1)
	o := opening{cluster: addrs(set.Servers)}
	c, other := s.open(o), s.open(o)
	name := func(i int) string { return fmt.Sprint("{", s.name, "}:", i) }
	holds := s.five(c, name)
	told := workAll(holds, lease+time.Second)
	var next []func(time.Duration) (entry, bool)
	for i := range holds {
		next = append(next, s.begins(other, name(i)))
	}
	time.Sleep(250 * time.Millisecond) // by then they were refused and wait, even in a JVM
	slot := codec.Slot(s.p.key(name(0)))
	from, to := 0, 1
	if !set.Has(from, slot) {
		from, to = to, from
	}
	began := time.Now()
	set.Move(from, to, slot)
	s.add("the slot has moved after", "ms", "", float64(time.Since(began).Milliseconds()))
	s.handOn(holds, told(), "each waiter enters after the unlock", func(i int, e entry) (time.Duration, bool, error) {
		began := time.Now()
		err := e.leave()
		in, ok := next[i](limit)
		s.done(in, ok)
		return in.at.Sub(began), ok, err
	})
}
