package severalservers_test

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// The third server takes part for so long at least, and until it has run so many
// scripts.
const (
	leaveAfter = 6 * time.Second
	itsScripts = 200
)

// TestBehaviourHoldsOnServersThatShareTheSlots runs the behaviour tests while slots
// move between two servers, and after the third has left.
func TestBehaviourHoldsOnServersThatShareTheSlots(t *testing.T) {
	t.Parallel()
	untilNoSlotIsLost(t, playOnServersThatShareTheSlots)
}

// untilNoSlotIsLost plays again what failed after servers had lost slots. One that
// hears an old claim late gives the slot up, and deletes the locks in it: whoever
// held them is told of a loss, rightly, which the tests don't expect.
func untilNoSlotIsLost(t *testing.T, play func(t *testing.T, last bool) (again bool)) {
	t.Helper()
	for left := 2; left >= 0; left-- {
		if !play(t, left == 0) {
			return
		}
	}
}

func playOnServersThatShareTheSlots(t *testing.T, last bool) (again bool) {
	run := build(t)
	all := run.list(t)
	for _, name := range counted {
		run.excluded[name] = oneServers
	}
	for _, name := range slices.Sorted(maps.Keys(run.excluded)) {
		if !slices.Contains(all, name) {
			t.Errorf("there is no test %s to exclude", name)
		}
	}
	c := topologytest.Start(t, 9, 9, 2)
	m := &mover{T: t, c: c, moved: map[uint16]placed{}}
	ended := run.start(t, c.URL())
	began := time.Now()
	var left [2]int // scripts at the third server, redirections by it
	gone, stayed := false, time.Duration(0)
	for running := true; running; {
		select {
		case <-ended:
			running = false
			continue
		case <-time.After(20 * time.Millisecond):
		}
		if !gone && time.Since(began) > leaveAfter && m.scripts(2) >= itsScripts {
			gone = true
			left = m.leave()
			stayed = time.Since(began)
			continue
		}
		m.move()
	}
	if run.err != nil && m.lost > 0 && !last {
		t.Logf("%v, and %d slots were lost with their keys: it is played again", run.err, m.lost)
		return true
	}
	passed := run.report(t, all)
	if !gone {
		t.Errorf("the tests ended before the third server left, after %v", time.Since(began))
	}
	scripts := [3]int{m.scripts(0), m.scripts(1), left[0]}
	redirected := [3]int{m.redirections(0), m.redirections(1), left[1]}
	total := scripts[0] + scripts[1] + scripts[2]
	for i, n := range scripts {
		t.Logf("server %d ran %d scripts of %d (%.0f %%), and redirected %d commands", i, n, total, 100*float64(n)/float64(total), redirected[i])
	}
	t.Logf("%d tests passed, %d excluded, of %d; %d slots were moved in use, the third server left after %v", passed, len(run.excluded), len(all), m.moves, stayed.Round(time.Second))
	for i := range 2 {
		if 10*scripts[i] < 3*(scripts[0]+scripts[1]) {
			t.Errorf("server %d ran less than 30 %% of the scripts of the two that stayed", i)
		}
	}
	if m.moves == 0 || redirected[0]+redirected[1] == 0 {
		t.Error("nothing was redirected: nothing was shown")
	}
	return false
}

// suite is the behaviour tests as a program.
type suite struct {
	bin      string
	excluded map[string]string // what is not run, and why
	cmd      *exec.Cmd
	output   string
	err      error
}

func build(t *testing.T) *suite {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
	return &suite{bin: bin, excluded: maps.Clone(excluded)}
}

// bin is the behaviour tests as a program, once built was called.
var bin string

var built = sync.OnceValue(func() error {
	if out, err := exec.Command("go", "test", "-c", "-o", bin, "../behaviour").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

func (s *suite) list(t *testing.T) (names []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), s.bin, "-test.list", "^Test").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		names = append(names, strings.TrimSpace(line))
	}
	return names
}

// start runs what is not excluded. Its result is closed at the end.
func (s *suite) start(t *testing.T, url string) <-chan struct{} {
	t.Helper()
	skip := "^(" + strings.Join(slices.Sorted(maps.Keys(s.excluded)), "|") + ")$"
	s.cmd = exec.CommandContext(t.Context(), s.bin, "-test.v", "-test.timeout", "5m", "-test.skip", skip)
	s.cmd.Dir = "../behaviour"
	s.cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	ended := make(chan struct{})
	go func() {
		out, err := s.cmd.CombinedOutput()
		s.output, s.err = string(out), err
		close(ended)
	}()
	return ended
}

// report checks that each test either passed or is excluded, and counts those
// that passed.
func (s *suite) report(t *testing.T, all []string) (passed int) {
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
	for _, name := range all {
		_, out := s.excluded[name]
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
	lost  int  // slots that their new servers gave up
	two   bool // the third has left
	moved map[uint16]placed
}

// placed is where a slot was moved, and when.
type placed struct {
	from, to int
	at       time.Time
}

// settles is how long a slot stays where it is at least. The servers tell each
// other who has it, and one that hears an old claim late believes it.
const settles = 2 * time.Second

// move takes a key from a server and moves its slot to another. Some commands
// find it half-way.
func (m *mover) move() {
	m.Helper()
	m.keep()
	// Rather from the one that ran more, so that neither has the busy locks alone;
	// the third takes part now and then.
	from, to := 0, 1
	if m.scripts(1) > m.scripts(0) != (rand.IntN(3) == 0) {
		from, to = 1, 0
	}
	if !m.two && rand.IntN(4) == 0 {
		if to = 2; rand.IntN(2) == 0 {
			from, to = 2, rand.IntN(2)
		}
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

// keep gives slots that were moved lately to their new servers once more, if those
// have heard an old claim late: each of the two would name the other for ever.
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

// leave gives the third server's slots to the others, and counts what it did.
func (m *mover) leave() (did [2]int) {
	m.Helper()
	time.Sleep(settles)
	slots := m.c.Slots(2)
	m.c.Move(2, 0, slots[:len(slots)/2]...)
	m.c.Move(2, 1, slots[len(slots)/2:]...)
	did = [2]int{m.scripts(2), m.redirections(2)}
	m.c.Leave(2, 0)
	m.two = true
	for _, slot := range slots {
		m.moved[slot] = placed{at: time.Now()}
	}
	return did
}

// scripts counts those that a server ran.
func (m *mover) scripts(server int) int {
	m.Helper()
	return topologytest.Calls(m, m.c.Conn(server), "evalsha")
}

// redirections counts the commands that a server sent elsewhere.
func (m *mover) redirections(server int) int {
	m.Helper()
	return topologytest.Errors(m, m.c.Conn(server), "MOVED") + topologytest.Errors(m, m.c.Conn(server), "ASK")
}
