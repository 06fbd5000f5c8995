package main

import (
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/checker"
	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/kind"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/chaos/internal/stage"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
)

// configured returns a run with a kind of lock on a single server, behind Sentinels or in a cluster. On a set its timeouts
// are longer: holds must survive a failover, which takes two seconds, and WAIT takes its time.
func configured(k kind.Kind, topology string, d time.Duration) stage.Config {
	c := stage.Config{
		Kind: k, Sizes: schedule.Sizes{Duration: d, Locks: 5, Go: 3, Java: 1, Topology: topology},
		Workers: 4, Watchdog: 1500 * time.Millisecond, CommandTimeout: 200 * time.Millisecond,
	}
	if topology != "" {
		c.Watchdog, c.CommandTimeout = 5*time.Second, 500*time.Millisecond
	}
	return c
}

type result struct {
	checker.Verdict
	Config   stage.Config
	Tallies  map[history.Tally]int
	Faults   map[schedule.Kind]int
	Failures []string      // apart from the history's violations
	Stood    time.Duration // how long the machine delayed the run: bounds grow by that
	Took     time.Duration
}

func (r *result) failed() bool { return len(r.Violations)+r.Suppressed+len(r.Failures) > 0 }

const (
	// chapter is how often the history so far is judged, which bounds the memory that it takes.
	chapter = 20 * time.Second
	// A lock whose grant never reached its caller is free when its lease ends. After that a waiter may have to reconnect
	// to a server.
	reconnect = 4 * time.Second
	// stand is two rounds of three locks, and a moment.
	stand = 10 * time.Second
)

// campaign does a whole run: it builds a stage, plays a schedule on it, judges the history while it grows, and in the end
// checks what is left. What it starts ends with t.
func campaign(t testing.TB, c stage.Config) *result {
	defer stalls.Watch()()
	if c.Kind.Several {
		c.Sizes.Locks *= 2 // each call wants several
	}
	r := &result{Config: c, Faults: map[schedule.Kind]int{}}
	if c.Kind.Order {
		// A place that its owner has given up keeps others out for this long.
		c.Place = min(c.Watchdog, 1500*time.Millisecond)
	}
	s := stage.Build(t, c)
	began := time.Now()
	check := checker.New(c.Kind.Model, checker.Bounds{
		Calm: time.Second, Troubled: c.Watchdog + reconnect + c.Place, Settle: c.Watchdog + time.Second + c.Place,
		Voided: voided(c), Lease: c.Watchdog, Place: c.Place, Stand: stand,
	})
	var judging sync.WaitGroup
	done := make(chan struct{})
	judging.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(chapter):
			}
			check.Judge(s.Book.Turn(), s.Troubles())
			s.Forget()
		}
	})
	r.play(s, began)
	time.Sleep(time.Until(began.Add(c.Sizes.Duration)))
	s.Quiet()
	close(done)
	judging.Wait()
	s.Residue()
	check.Judge(s.Book.Turn(), s.Troubles())
	for _, text := range s.Book.Oddities() {
		check.Violation("outcome: %s", text)
	}
	r.Verdict = check.End()
	for i, text := range r.Violations {
		r.Violations[i] += s.Acknowledged(text)
	}
	r.Failures, r.Stood = s.Failures(), s.Stood()
	r.Tallies = s.Book.Tallies()
	r.Took = time.Since(began)
	return r
}

// voided returns the share of windows that may be set aside. A failover may lose what the former master had granted and not
// all replicas had acknowledged. FLUSHALL and a forced unlock take all holds of that moment, and a call for several locks is
// hit more often.
func voided(c stage.Config) float64 {
	switch {
	case c.Sizes.Topology != "" && c.Kind.Common:
		return 0.75
	case c.Sizes.Topology != "" || c.Kind.Common:
		return 0.25
	case c.Kind.Several:
		return 0.15
	}
	return 0.05
}

// play carries out the schedule and returns when its last fault is over.
func (r *result) play(s *stage.Stage, began time.Time) {
	var playing sync.WaitGroup
	for _, f := range schedule.Draw(r.Config.Seed, r.Config.Sizes) {
		time.Sleep(time.Until(began.Add(f.At)))
		r.Faults[f.Kind]++
		playing.Go(func() { s.Play(f) })
	}
	playing.Wait()
}
