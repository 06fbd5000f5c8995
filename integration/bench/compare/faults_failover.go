package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

func planned(set *redistest.SentinelSet, master *redistest.Server) {
	set.Failover(set.Sentinels[2])
	set.AwaitMaster(master)
}

func masterKilled(set *redistest.SentinelSet, master *redistest.Server) {
	master.Kill()
	set.AwaitMaster(master)
}

// failover leaves the master of a set behind Sentinels while five locks are held and waited for.
func failover(leave func(*redistest.SentinelSet, *redistest.Server)) func(*stage) {
	return func(s *stage) {
		set := redistest.StartSentinels(s.t, redistest.SentinelPasswords{})
		var clients [2]service
		for i := range clients {
			o := opening{}
			for _, n := range set.Sentinels {
				o.sentinels = append(o.sentinels, n.Addr())
			}
			var err error
			if s.jvms != nil {
				clients[i], err = openJava(o)
			} else {
				clients[i], err = s.p.open(o)
			}
			if err != nil {
				fail("%w", err)
			}
			s.t.Cleanup(clients[i].close)
			s.warm(clients[i])
		}
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
