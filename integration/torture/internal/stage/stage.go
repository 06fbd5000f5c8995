package stage

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/torture/internal/checker"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/kind"
)

// Config is what a stage consists of.
type Config struct {
	Seed                     uint64
	Kind                     kind.Kind // of all locks
	Locks, Go, Java, Workers int
	Watchdog                 time.Duration
	CommandTimeout           time.Duration
	Place                    time.Duration // for which a waiter keeps its place, where there is a queue
	Topology                 string        // as a schedule has it
	Logf                     func(format string, args ...any)
}

// Stage is everything that a run needs. Its methods are for the goroutine that called Build, but for Play.
type Stage struct {
	Config
	t       testing.TB
	Book    *history.Book
	server  *redisserver.LocalServer // nil with a set
	set     *set                     // nil with a single server
	serial  sync.Mutex               // held during a fault of the server, so that two never meet
	began   int64                    // of the first round
	round   int                      // the next one to be set; see numbering
	setting sync.Mutex               // held while a set's numbers are set
	gos     []*goProcess
	javas   []*javaProcess

	mu       sync.Mutex // guards what follows
	troubles []*checker.Trouble
	failures []string
}

// Build starts everything. What it starts ends with t.
func Build(t testing.TB, c Config) *Stage {
	s := &Stage{Config: c, t: t, Book: history.NewBook(), began: machineclock.Now()}
	// Each write is in the file before its reply goes out, whatever happens to the process; only the machine's crash
	// would lose it.
	if c.Topology == "" {
		s.server = redisserver.Local(t, "--appendonly", "yes", "--appendfsync", "no")
	} else {
		s.set = buildSet(t, c.Topology)
		s.set.nameless = c.Kind.Permits > 0
	}
	if err := errors.Join(s.setPermits(), s.setRounds()); err != nil {
		t.Fatal(err)
	}
	var starting sync.WaitGroup
	for i := range c.Java {
		j := &javaProcess{stage: s, row: i, way: s.newWay()}
		s.javas = append(s.javas, j)
		t.Cleanup(j.end)
		starting.Go(j.start)
	}
	for i := range c.Go {
		g := &goProcess{stage: s, row: i, way: s.newWay()}
		s.gos = append(s.gos, g)
		t.Cleanup(g.end)
		starting.Go(g.start)
	}
	starting.Wait()
	stop := make(chan struct{})
	var watching sync.WaitGroup
	if s.Kind.Rounds() > 0 {
		watching.Go(func() { s.rounds(stop) })
	}
	switch {
	case s.set == nil:
		watching.Go(func() { s.watch(stop) })
	case s.set.watched != nil:
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
		return way{url: s.set.url}
	}
	p := faultproxy.Start(s.t, s.server.Addr())
	return way{p, "redis://" + p.Addr()}
}

// url is where whoever has no part in the play finds the locks.
func (s *Stage) url() string {
	if s.set != nil {
		return s.set.url
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

// names are those of all locks, of the first round if there are others.
func (s *Stage) names() []string {
	names := make([]string, s.Locks)
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

// stageName tells the stage's own connections from those of the parties, whose
// ports they may come to have.
const stageName = "stage"

// ask sends one command to the server, past all proxies.
func (s *Stage) ask(command string, args ...any) (any, error) {
	c, err := redis.DialURL(s.server.URL(), redis.DialClientName(stageName), redis.DialConnectTimeout(5*time.Second),
		redis.DialReadTimeout(10*time.Second), redis.DialWriteTimeout(5*time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}
