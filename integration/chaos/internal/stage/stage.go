package stage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/chaos/internal/checker"
	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/kind"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
)

type Config struct {
	Seed           uint64
	Kind           kind.Kind      // of all locks
	Sizes          schedule.Sizes // also how long the run lasts
	Workers        int            // of each process
	Watchdog       time.Duration
	CommandTimeout time.Duration
	Place          time.Duration // how long a waiter of a queue keeps its place; 0 without a queue
	Logf           func(format string, args ...any)
}

// Stage is everything that a run needs. Play, Troubles and Forget may run concurrently; the rest is for Build's goroutine.
type Stage struct {
	Config
	t      testing.TB
	Book   *history.Book
	server *redisserver.LocalServer // nil with a set
	set    *set                     // nil with a single server
	serial sync.Mutex               // held during a fault of the server, so that two never overlap
	began  int64
	gos    []*goProcess
	javas  []*javaProcess

	mu       sync.Mutex // guards what follows
	troubles []*checker.Trouble
	failures []string
	stood    time.Duration // how long the machine delayed this process
}

// Build starts everything. It all ends with t.
func Build(t testing.TB, c Config) *Stage {
	s := &Stage{Config: c, t: t, Book: history.NewBook(), began: machineclock.Now()}
	// Each write is in the file before its reply goes out, whatever happens to the process; only the machine's crash
	// would lose it.
	if c.Sizes.Topology == "" {
		s.server = redisserver.Local(t, "--appendonly", "yes", "--appendfsync", "no")
	} else {
		s.set = buildSet(t, c.Sizes.Topology)
		s.set.nameless = c.Kind.Permits > 0
	}
	if err := s.setPermits(); err != nil {
		t.Fatal(err)
	}
	var starting sync.WaitGroup
	for i := range c.Sizes.Java {
		j := &javaProcess{stage: s, row: i, way: s.newWay()}
		s.javas = append(s.javas, j)
		t.Cleanup(j.end)
		starting.Go(j.start)
	}
	for i := range c.Sizes.Go {
		g := &goProcess{stage: s, row: i, way: s.newWay()}
		s.gos = append(s.gos, g)
		t.Cleanup(g.end)
		starting.Go(g.start)
	}
	starting.Wait()
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { s.watchMachine(stop) })
	switch {
	case s.set == nil:
		watching.Go(func() { s.watch(stop) })
	case s.set.Watched != nil:
		watching.Go(func() { s.watchSentinels(stop) })
	}
	if s.set != nil && s.Kind.Several {
		watching.Go(func() { s.watchMasters(stop) })
	}
	t.Cleanup(func() {
		close(stop)
		watching.Wait()
	})
	return s
}

// way is how a process reaches the server.
type way struct {
	proxy *faultproxy.Proxy // nil: at the addresses that a set's servers announce
	url   string
}

func (s *Stage) newWay() way {
	if s.set != nil {
		return way{url: s.set.URL}
	}
	p := faultproxy.Start(s.t, s.server.Addr())
	return way{p, "redis://" + p.Addr()}
}

// url returns the address for clients that are not under test.
func (s *Stage) url() string {
	if s.set != nil {
		return s.set.URL
	}
	return s.server.URL()
}

// LockName returns the key of a lock. Every fifth has a name so long that a few of its commands fill a socket's buffer.
func LockName(i int) string {
	name := fmt.Sprintf("torture:%d", i)
	if i%5 == 4 {
		name += strings.Repeat(":long", 3000)
	}
	return name
}

func (s *Stage) names() []string {
	names := make([]string, s.Sizes.Locks)
	for i := range names {
		names[i] = LockName(i)
	}
	return names
}

// fail records a failure, with which the run does not pass.
func (s *Stage) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	s.failures = append(s.failures, text)
	s.Logf("FAILURE: %s", text)
}

// Stood returns how long the machine has delayed this process.
func (s *Stage) Stood() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stood
}

// Failures returns what went wrong apart from the history.
func (s *Stage) Failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.failures...)
}

// Troubles returns when faults were in force or the machine was late, by From. A fault that lasts has the greatest To.
func (s *Stage) Troubles() []checker.Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]checker.Trouble, len(s.troubles))
	for i, t := range s.troubles {
		all[i] = *t
	}
	slices.SortFunc(all, func(a, b checker.Trouble) int { return cmp.Compare(a.From, b.From) })
	return all
}

// trouble records that a fault begins. The caller calls over when it ends.
func (s *Stage) trouble() (over func()) {
	t := &checker.Trouble{From: machineclock.Now(), To: 1<<63 - 1}
	s.mu.Lock()
	s.troubles = append(s.troubles, t)
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.To = machineclock.Now()
	}
}

// watchMachine records, until stop is closed, how long the machine delays this process: it delays the others too.
func (s *Stage) watchMachine(stop <-chan struct{}) {
	const each, much = 200 * time.Millisecond, 5 * time.Millisecond
	for {
		began, at := time.Now(), machineclock.Now()
		select {
		case <-stop:
			return
		case <-time.After(each):
		}
		if late := stalls.Since(began); late > much {
			s.mu.Lock()
			s.troubles = append(s.troubles, &checker.Trouble{From: at, To: machineclock.Now(), Late: late.Nanoseconds()})
			s.stood += late
			s.mu.Unlock()
		}
	}
}

// Forget drops what the proxies recorded, so that hours fit into memory.
func (s *Stage) Forget() {
	if s.set != nil {
		return // gates keep nothing
	}
	for _, g := range s.gos {
		g.proxy.Forget()
	}
	for _, j := range s.javas {
		j.proxy.Forget()
	}
}

// ask sends one command to the server, past all proxies.
func (s *Stage) ask(command string, args ...any) (any, error) {
	c, err := redis.DialURL(s.server.URL(), redis.DialClientName(sets.Name), redis.DialConnectTimeout(5*time.Second),
		redis.DialReadTimeout(10*time.Second), redis.DialWriteTimeout(5*time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}
