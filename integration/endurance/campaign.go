package main

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
)

// campaign is a run.
type campaign struct {
	duration time.Duration
	seed     uint64
	round    uint64 // this round alone, again and again
	only     string // this theme alone
	lanes    int
	stop     int    // after so many violations; 0: go on
	kinds    string // of violations that count; "" are all
	tell     func(violation)
}

// run plays rounds until the time is over.
func (c campaign) run() (*tally, []string) {
	t := quiet()
	defer t.Finish()
	enoughSeen := make(chan struct{})
	var mu sync.Mutex
	seen := 0
	s := newStage(t, func(v violation) {
		mu.Lock()
		defer mu.Unlock()
		if c.kinds != "" && !strings.Contains(c.kinds, v.kind) {
			return
		}
		c.tell(v)
		if seen++; seen == c.stop {
			close(enoughSeen)
		}
	})
	s.only = c.only
	over := time.After(c.duration)
	seeds := make(chan uint64)
	var playing sync.WaitGroup
	for range c.lanes {
		l := s.lane()
		playing.Go(func() {
			defer l.end()
			for seed := range seeds {
				l.play(seed)
			}
		})
	}
	conns := map[*redisserver.LocalServer]redis.Conn{s.safe: redisserver.Dial(t, s.safe), s.wiped: redisserver.Dial(t, s.wiped)}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	rng := rand.New(rand.NewPCG(c.seed, 0))
	for next, on := c.next(rng), true; on; {
		select {
		case seeds <- next:
			next = c.next(rng)
		case <-tick.C:
			s.visit(conns, false)
		case <-over:
			on = false
		case <-enoughSeen:
			on = false
		}
	}
	close(seeds)
	playing.Wait()
	s.visit(conns, true)
	return s.tally, t.Errors()
}

func (c campaign) next(rng *rand.Rand) uint64 {
	if c.round != 0 {
		return c.round
	}
	return rng.Uint64() >> 16
}

// quiet is the whole run, or one round, to the servers and proxies that it starts; its errors are the report's business.
func quiet() *testbed.Program { return &testbed.Program{Title: "endurance", Quiet: true} }
