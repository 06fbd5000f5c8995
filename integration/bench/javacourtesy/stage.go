package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/commandstats"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
)

const (
	// settling is the start of a slice, which counts only for the commands.
	settling = 500 * time.Millisecond
	// notice is how much time processes get to start their workers.
	notice = 50 * time.Millisecond
)

// stage is a redis-server with processes, which are started and warmed up when first needed. Any failure fails its
// test.
type stage struct {
	t      testing.TB
	server *redisserver.LocalServer
	redis  redis.Conn
	goes   []process
	java   []process
	slices int

	binary  string        // program of the Go processes
	warming time.Duration // how long a JVM runs the same load before anything is measured
}

func newStage(t testing.TB, binary string, warming time.Duration) *stage {
	t.Helper()
	server := redisserver.Local(t)
	return &stage{t: t, server: server, redis: redisserver.Dial(t, server), binary: binary, warming: warming}
}

// version is the server's name and version.
func (s *stage) version() string {
	s.t.Helper()
	v, err := redisserver.Version(s.redis)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// prepare starts and warms up the processes that a cast needs.
func (s *stage) prepare(c cast) {
	s.t.Helper()
	var fresh []process
	for len(s.goes) < c.goes {
		fresh = append(fresh, startGo(s.t, s.binary, s.server.URL()))
		s.goes = append(s.goes, fresh[len(fresh)-1])
	}
	for len(s.java) < c.java {
		fresh = append(fresh, startJava(s.t, s.server.Addr()))
		s.java = append(s.java, fresh[len(fresh)-1])
	}
	// Each on a lock of its own, or the quick ones would keep the others from it.
	orders := make([]order, len(fresh))
	for i, p := range fresh {
		orders[i] = order{Name: fmt.Sprintf("warm:%d", i), Workers: workersOfEach, For: time.Second}
		if p.side == javaSide {
			orders[i].For = s.warming
		}
	}
	s.hammer(fresh, orders)
	for i := range orders {
		orders[i].Courteous, orders[i].For = true, time.Second
	}
	s.hammer(fresh, orders)
}

// hammer makes all begin at once and returns when the last is done.
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
			s.t.Fatalf("%s process: %v", all[i].side, err)
		}
	}
	return turns
}

// play runs one slice of a cast.
func (s *stage) play(c cast, length time.Duration) slice {
	s.t.Helper()
	s.slices++
	name := fmt.Sprintf("slice:%d", s.slices)
	var all []process
	var orders []order
	for i := range c.goes {
		o := order{Name: name, Workers: workersOfEach, Hold: c.hold, For: length, Courteous: c.courteous, Think: c.goThink}
		if c.goWorkers > 0 {
			o.Workers = c.goWorkers
		}
		all, orders = append(all, s.goes[i]), append(orders, o)
	}
	for i := range c.java {
		all, orders = append(all, s.java[i]), append(orders, order{Name: name, Workers: workersOfEach, Hold: c.hold, For: length})
	}
	if c.idle {
		defer s.listen(name).Close()
	}
	before := s.commands()
	endNudging := s.nudge(name, notice+length)
	turns := s.hammer(all, orders)
	endNudging()
	commands := s.commands().Since(before)
	r, err := judge(all, turns, orders[0].Start+settling.Nanoseconds(), orders[0].Start+length.Nanoseconds())
	if err != nil {
		s.t.Fatalf("%v: %v", c, err)
	}
	r.commands = commands
	return r
}

func (s *stage) commands() commandstats.Calls {
	s.t.Helper()
	calls, err := commandstats.Read(s.redis)
	if err != nil {
		s.t.Fatal(err)
	}
	return calls
}

// listen subscribes to a lock's releases until its connection is closed.
func (s *stage) listen(name string) redis.Conn {
	s.t.Helper()
	conn := redisserver.Dial(s.t, s.server, redis.DialReadTimeout(0))
	if _, err := conn.Do("SUBSCRIBE", codec.Channel(name)); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		for err := error(nil); err == nil; _, err = conn.Receive() {
		}
	}()
	return conn
}

// nudge wakes waiters that still wait a second after the end. A JVM that missed the last message would sleep until the
// lease ends; that is known, and not measured here.
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
