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
	"github.com/rlock-go/redisson/internal/stalls"
)

type Config struct {
	Seed           uint64
	Kind           kind.Kind      // of all locks
	Sizes          schedule.Sizes // also for how long
	Workers        int            // of each process
	Watchdog       time.Duration
	CommandTimeout time.Duration
	Place          time.Duration // for which a waiter keeps its place, where there is a queue; Run sets it
	Logf           func(format string, args ...any)
}

// Stage is everything that a run needs. Its methods are for the goroutine that called Build, but for Play.
type Stage struct {
	Config
	t      testing.TB
	Book   *history.Book
	server *redisserver.LocalServer // nil with a set
	set    *set                     // nil with a single server
	serial sync.Mutex               // held during a fault of the server, so that two never meet
	began  int64
	gos    []*goProcess
	javas  []*javaProcess

	mu       sync.Mutex // guards what follows
	troubles []*checker.Trouble
	failures []string
	stood    time.Duration // for which the machine let this process wait
}

// Build starts everything. What it starts ends with t.
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
	t.Cleanup(func() {
		close(stop)
		watching.Wait()
	})
	return s
}

// way is how a process gets to the server.
type way struct {
	proxy *faultproxy.Proxy // nil: by what a set's servers announce
	url   string
}

func (s *Stage) newWay() way {
	if s.set != nil {
		return way{url: s.set.URL}
	}
	p := faultproxy.Start(s.t, s.server.Addr())
	return way{p, "redis://" + p.Addr()}
}

// url is where whoever has no part in the play finds the locks.
func (s *Stage) url() string {
	if s.set != nil {
		return s.set.URL
	}
	return s.server.URL()
}

// LockName is the key of a lock. One of five has a long name: a few of its commands are all that a socket takes at once.
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

// fail records what the run must not pass with.
func (s *Stage) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	s.failures = append(s.failures, text)
	s.Logf("FAILURE: %s", text)
}

// Stood is for how long the machine let this process wait.
func (s *Stage) Stood() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stood
}

// Failures are what went wrong beside the history.
func (s *Stage) Failures() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.failures...)
}

// Troubles are the stretches in which faults were in force; one that lasts ends at forever.
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

// trouble says that a fault begins. The returned function says that it is over.
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

// watchMachine notes for how long the machine let this process wait, until stop is closed: the others had to wait too.
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
