package main

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
)

const (
	// settling is the begin of a slice, which counts for the commands only.
	settling = 500 * time.Millisecond
	// notice is what processes get to have their workers ready.
	notice      = 50 * time.Millisecond
	fullWarming = 6 * time.Second
)

// stage is a redis-server with processes. They are started and warmed up when they are first needed. Whatever goes wrong
// fails its test.
type stage struct {
	t      testing.TB
	server *redisserver.LocalServer
	redis  redis.Conn
	goes   []*child
	java   []jvm
	idle   *child
	slices int

	binary  string        // of Go processes: this one
	warming time.Duration // how long a JVM runs the same load before anything is measured
}

func newStage(t testing.TB) *stage {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := redisserver.Local(t)
	return &stage{t: t, server: server, redis: redisserver.Dial(t, server), binary: binary, warming: fullWarming}
}

// prepare has warm processes for all these casts.
func (s *stage) prepare(casts ...cast) {
	s.t.Helper()
	var fresh []process
	for _, c := range casts {
		for len(s.goes) < c.goes {
			s.goes = append(s.goes, startChild(s.t, s.binary, s.server.URL()))
			fresh = append(fresh, s.goes[len(s.goes)-1])
		}
		for len(s.java) < c.java {
			s.java = append(s.java, startJVM(s.t, s.server.Addr()))
			fresh = append(fresh, s.java[len(s.java)-1])
		}
		if c.idle && s.idle == nil {
			s.idle = startChild(s.t, s.binary, s.server.URL())
		}
	}
	if len(fresh) == 0 {
		return
	}
	// Each on a lock of its own, or the quick ones would keep the others from it.
	orders := make([]order, len(fresh))
	for i, p := range fresh {
		orders[i] = order{Name: fmt.Sprintf("warm:%d", i), Workers: workersOfEach, For: time.Second}
		if p.side() == javaSide {
			orders[i].For = s.warming
		}
	}
	s.hammer(fresh, orders)
	for i := range orders {
		orders[i].Courteous, orders[i].For = true, time.Second
	}
	s.hammer(fresh, orders)
}

// hammer has all begin at once and returns when the last is done.
func (s *stage) hammer(all []process, orders []order) [][]javapeer.Turn {
	s.t.Helper()
	start := machineclock.Now() + notice.Nanoseconds()
	turns, errs := make([][]javapeer.Turn, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		orders[i].Start = start
		wg.Go(func() { turns[i], errs[i] = p.hammer(orders[i]) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			s.t.Fatalf("%s process: %v", all[i].side(), err)
		}
	}
	return turns
}

// play gives the stage to a cast.
func (s *stage) play(c cast, length time.Duration) slice {
	s.t.Helper()
	s.prepare(c)
	s.slices++
	name := fmt.Sprintf("slice:%d", s.slices)
	var all []process
	var orders []order
	for i := range c.goes {
		o := order{Name: name, Workers: c.workers, Hold: c.hold, For: length, Courteous: c.courteous, Think: c.goThink}
		if c.goWorkers > 0 {
			o.Workers = c.goWorkers
		}
		all, orders = append(all, s.goes[i]), append(orders, o)
	}
	for i := range c.java {
		all = append(all, s.java[i])
		orders = append(orders, order{Name: name, Workers: c.workers, Hold: c.hold, For: length})
	}
	if c.idle {
		s.tellIdle(order{Do: "listen", Name: name})
	}
	before := s.commands()
	endNudging := s.nudge(name, notice+length)
	turns := s.hammer(all, orders)
	endNudging()
	commands := s.commands().since(before)
	if c.idle {
		s.tellIdle(order{Do: "quiet"})
	}
	r, err := judge(all, turns, orders[0].Start+settling.Nanoseconds(), orders[0].Start+length.Nanoseconds())
	if err != nil {
		s.t.Fatalf("%v: %v", c, err)
	}
	r.commands = commands
	return r
}

func (s *stage) tellIdle(o order) {
	s.t.Helper()
	if _, err := s.idle.ask(o); err != nil {
		s.t.Fatalf("idle process: %v", err)
	}
}

// nudge wakes whoever still waits a second after the end. A JVM that missed the last message would sleep until a lease's
// end; that is known, and no part of what is measured here.
func (s *stage) nudge(name string, end time.Duration) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		wait := end + time.Second
		for {
			select {
			case <-done:
				return
			case <-time.After(wait):
				wait = 100 * time.Millisecond
				s.redis.Do("PUBLISH", codec.Channel(name), codec.UnlockMessage)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}
