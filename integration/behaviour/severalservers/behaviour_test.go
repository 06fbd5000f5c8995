package severalservers_test

import (
	"bufio"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// TestBehaviourHoldsOnServersThatShareTheSlots runs the behaviour tests on a cluster whose masters have replicas, while
// slots move between two of them. A server that hears an old claim late gives a slot up, and deletes the locks in it: their
// holders are rightly told of a loss, which the tests don't expect. The tests then run again, at most twice.
func TestBehaviourHoldsOnServersThatShareTheSlots(t *testing.T) {
	t.Parallel()
	for left := 2; left >= 0 && play(t, left == 0); left-- {
	}
}

func play(t *testing.T, last bool) (again bool) {
	run := build(t)
	c := topologytest.StartReplicated(t, 1, 1, 1)
	m := &mover{T: t, c: c, moved: map[uint16]placed{}}
	ended := run.start(t, c.ClusterURL())
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(20 * time.Millisecond):
			m.move()
		}
	}
	if run.err != nil && m.lost > 0 && !last {
		t.Logf("%v, and %d slots were lost with their keys: it is played again", run.err, m.lost)
		return true
	}
	passed := run.report(t)
	redirected := 0
	for i := range 3 {
		scripts := m.scripts(i)
		t.Logf("server %d ran %d scripts, and redirected %d commands", i, scripts, m.redirections(i))
		redirected += m.redirections(i)
		if i < 2 && scripts < 100 {
			t.Errorf("server %d ran hardly any script", i)
		}
	}
	t.Logf("%d tests passed, %d excluded, of %d; %d slots were moved in use", passed, len(excluded), len(run.all), m.moves)
	if m.moves == 0 || redirected == 0 {
		t.Error("nothing was redirected: nothing was shown")
	}
	return false
}

type suite struct {
	all    []string // their names
	output string
	err    error
}

func build(t *testing.T) *suite {
	t.Helper()
	testbed.Must(t, built())
	out, err := exec.CommandContext(t.Context(), bin, "-test.list", "^Test").Output()
	testbed.Must(t, err)
	all := strings.Fields(string(out))
	for _, name := range slices.Sorted(maps.Keys(excluded)) {
		if !slices.Contains(all, name) {
			t.Errorf("there is no test %s to exclude", name)
		}
	}
	return &suite{all: all}
}

// bin is the behaviour tests as a program, once built was called.
var bin string

var built = sync.OnceValue(func() error {
	if out, err := exec.Command("go", "test", "-c", "-o", bin, "..").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// start runs the tests that are not excluded. The channel is closed at their end.
func (s *suite) start(t *testing.T, url string) <-chan struct{} {
	t.Helper()
	skip := "^(" + strings.Join(slices.Sorted(maps.Keys(excluded)), "|") + ")$"
	cmd := exec.CommandContext(t.Context(), bin, "-test.v", "-test.timeout", "5m", "-test.skip", skip)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	ended := make(chan struct{})
	go func() {
		out, err := cmd.CombinedOutput()
		s.output, s.err = string(out), err
		close(ended)
	}()
	return ended
}

// report checks that each test either passed or is excluded, and counts those
// that passed.
func (s *suite) report(t *testing.T) (passed int) {
	t.Helper()
	result := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(s.output)); lines.Scan(); {
		if word, rest, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "--- "), ": Test"); ok && word != lines.Text() {
			name, _, _ := strings.Cut("Test"+rest, " ")
			result[name] = word
		}
	}
	if s.err != nil {
		t.Errorf("the behaviour tests: %v\n%s", s.err, s.output)
	}
	for _, name := range s.all {
		_, out := excluded[name]
		switch {
		case out && result[name] != "":
			t.Errorf("%s is excluded, and was run", name)
		case !out && result[name] != "PASS":
			t.Errorf("%s: %q", name, result[name])
		case !out:
			passed++
		}
	}
	return passed
}

// mover moves slots that are in use.
type mover struct {
	*testing.T
	c     *topologytest.Cluster
	moves int
	lost  int // slots that their new servers gave up
	moved map[uint16]placed
}

// placed is where a slot was moved, and when.
type placed struct {
	from, to int
	at       time.Time
}

// settles is how long a slot stays in its place at least. The servers tell each
// other which has it, and one that hears an old claim late believes it.
const settles = 2 * time.Second

// move picks a key of a server and moves its slot to another. Some commands find
// the slot half moved.
func (m *mover) move() {
	m.Helper()
	m.keep()
	// The one that ran more is preferred, so that neither has the busy locks alone.
	from, to := 0, 1
	if m.scripts(1) > m.scripts(0) != (rand.IntN(3) == 0) {
		from, to = 1, 0
	}
	key, err := redis.String(m.c.Conn(from).Do("RANDOMKEY"))
	if err == redis.ErrNil {
		return
	}
	if err != nil {
		m.Fatal(err)
	}
	slot := codec.Slot(key)
	if time.Since(m.moved[slot].at) < settles {
		return
	}
	m.c.Begin(slot, from, to)
	for m.c.MoveKeys(slot, from, to, 1) > 0 {
		time.Sleep(time.Millisecond)
	}
	m.c.End(slot, from, to)
	m.moves++
	m.moved[slot] = placed{from, to, time.Now()}
}

// keep assigns slots that were moved lately to their new servers again, if those
// gave them up for an old claim: the two would name each other for ever.
func (m *mover) keep() {
	m.Helper()
	for slot, p := range m.moved {
		if p.from != p.to && time.Since(p.at) < settles && !m.c.Has(p.to, slot) {
			m.Logf("slot %d is moved from %d to %d once more: its keys are gone", slot, p.from, p.to)
			m.lost++
			m.c.End(slot, p.from, p.to)
		}
	}
}

func (m *mover) scripts(server int) int {
	m.Helper()
	return topologytest.Calls(m, m.c.Conn(server), "evalsha")
}

func (m *mover) redirections(server int) int {
	m.Helper()
	return topologytest.Errors(m, m.c.Conn(server), "MOVED") + topologytest.Errors(m, m.c.Conn(server), "ASK")
}

// TestBehaviourHoldsBehindSentinels runs the behaviour tests by the URL of the Sentinels of a master with two replicas.
func TestBehaviourHoldsBehindSentinels(t *testing.T) {
	t.Parallel()
	run := build(t)
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	<-run.start(t, set.URL())
	passed := run.report(t)
	t.Logf("%d tests passed, %d excluded, of %d", passed, len(excluded), len(run.all))
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "severalservers-")
	if err != nil {
		log.Fatal(err)
	}
	bin = filepath.Join(dir, "behaviour.test")
	testbed.Main(m, "3", func() { os.RemoveAll(dir) })
}
