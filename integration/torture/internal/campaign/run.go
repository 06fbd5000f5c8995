package campaign

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/checker"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/kind"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
	"github.com/rlock-go/redisson/integration/torture/internal/stage"
	"github.com/rlock-go/redisson/integration/torture/internal/timeline"
)

// Config is what a run is made of.
type Config struct {
	Seed           uint64
	Kind           kind.Kind
	Sizes          schedule.Sizes
	Workers        int
	Watchdog       time.Duration
	CommandTimeout time.Duration
	HTML           string // where the timeline goes; empty for nowhere
	History        string // where all acquisitions go, one a line; empty for nowhere
	Logf           func(format string, args ...any)
}

// Slower gives the times of a set of servers, unless others than the defaults were asked for: a failover takes two
// seconds, over which holds are to be kept, and WAIT its part.
func Slower(c *Config) {
	if c.Watchdog == 1500*time.Millisecond {
		c.Watchdog = 5 * time.Second
	}
	if c.CommandTimeout == 200*time.Millisecond {
		c.CommandTimeout = 500 * time.Millisecond
	}
}

// Result is what it came to.
type Result struct {
	checker.Verdict
	Config   Config
	Tallies  map[history.Tally]int
	Faults   map[schedule.Kind]int
	Failures []string // beside the history's violations
	Took     time.Duration
}

// Failed tells whether anything was wrong.
func (r *Result) Failed() bool { return len(r.Violations)+r.Suppressed+len(r.Failures) > 0 }

const (
	// chapter is how often the history so far is judged, which bounds the memory that it takes.
	chapter = 20 * time.Second
	// A lock that was granted to somebody who could not be told is free when its lease ends, at the latest; then there
	// is a server to be reached again.
	reconnect = 4 * time.Second
	// stand is two rounds of three locks, and a moment.
	stand = 10 * time.Second
)

// Run runs. What it starts ends with t.
func Run(t testing.TB, c Config) *Result {
	if c.Kind.Several {
		c.Sizes.Locks *= 2 // each is wanted with others
	}
	r := &Result{Config: c, Faults: map[schedule.Kind]int{}}
	place := time.Duration(0)
	if c.Kind.Order {
		// One that nobody has any more keeps others out for so long.
		place = min(c.Watchdog, 1500*time.Millisecond)
	}
	s := stage.Build(t, stage.Config{
		Seed: c.Seed, Kind: c.Kind, Place: place, Locks: c.Sizes.Locks, Go: c.Sizes.Go, Java: c.Sizes.Java, Workers: c.Workers,
		Watchdog: c.Watchdog, CommandTimeout: c.CommandTimeout, Topology: c.Sizes.Topology, Logf: c.Logf,
	})
	began := time.Now()
	start := machineclock.Now()
	line := timeline.New(start)
	check := checker.New(c.Kind.Model, checker.Bounds{
		Calm: time.Second, Troubled: c.Watchdog + reconnect + place, Settle: c.Watchdog + time.Second + place,
		Voided: voided(c), Lease: c.Watchdog, Place: place, Stand: stand,
	}, line.Window)
	written, err := newRecord(c.History)
	if err != nil {
		t.Fatal(err)
	}
	turn := func() history.Chapter {
		ch := s.Book.Turn()
		written.add(ch)
		return ch
	}
	// What is not a fault's effect must not be mistaken for one: the first calls meet JVMs that are still warming up.

	var judging sync.WaitGroup
	done := make(chan struct{})
	judging.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(chapter):
			}
			check.Judge(turn(), s.Troubles())
			s.Forget()
		}
	})
	r.play(s, line, began)
	time.Sleep(time.Until(began.Add(c.Sizes.Duration)))
	s.Quiet()
	close(done)
	judging.Wait()
	s.Residue()
	check.Judge(turn(), s.Troubles())
	for _, text := range s.Book.Oddities() {
		check.Violation("outcome: %s", text)
	}
	r.Verdict = check.End()
	for i, text := range r.Violations {
		r.Violations[i] += s.Acknowledged(text)
	}
	r.Failures = s.Failures()
	r.Tallies = s.Book.Tallies()
	r.Took = time.Since(began)
	if err := errors.Join(r.draw(line), written.end()); err != nil {
		r.Failures = append(r.Failures, err.Error())
	}
	return r
}

// voided is the share of windows that may be set aside. A failover takes from what a master that is left had granted, as
// far as not all replicas had acknowledged it; FLUSHALL and a forced unlock take what they meet, of a round all that is left, and
// whoever waits for several locks is met more often.
func voided(c Config) float64 {
	switch {
	case c.Sizes.Topology != "" && c.Kind.Rounds() > 0:
		return 0.75 // a failover may undo what was done of any number before
	case c.Sizes.Topology != "" || c.Kind.Rounds() > 0:
		return 0.25
	case c.Kind.Several:
		return 0.15
	}
	return 0.05
}

// play carries the schedule out and returns when its last fault is over.
func (r *Result) play(s *stage.Stage, line *timeline.Timeline, began time.Time) {
	var playing sync.WaitGroup
	for _, f := range schedule.Draw(r.Config.Seed, r.Config.Sizes) {
		time.Sleep(time.Until(began.Add(f.At)))
		r.Faults[f.Kind]++
		playing.Go(func() {
			from := machineclock.Now()
			s.Play(f)
			line.Fault(timeline.Fault{Fault: f, From: from, To: machineclock.Now()})
		})
	}
	playing.Wait()
}

func (r *Result) draw(line *timeline.Timeline) error {
	if r.Config.HTML == "" {
		return nil
	}
	f, err := os.Create(r.Config.HTML)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := line.Write(f, fmt.Sprintf("Locks under torture, seed %d", r.Config.Seed), r.Summary()); err != nil {
		return err
	}
	return f.Close()
}
