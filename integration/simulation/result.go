package simulation

import (
	"fmt"
	"time"
)

// Result is what a play found.
type Result struct {
	Violations []string
	Log        []string // the history, if the plan says Keep
	Hash       uint64   // of the history
	Stacks     string   // of all goroutines when the first rule was broken, if the plan says Keep

	Virtual   time.Duration
	Entries   int
	Calls     int
	Failovers int
	Faults    int
	Events    int
	Commands  int
	Outcomes  map[string]int           // of calls, by their names
	Allowed   map[Clause]int           // how often the contract let something pass
	Longest   map[string]time.Duration // what a rule measured
}

// mostViolations of one play are kept. One cause usually has many.
const mostViolations = 20

// violate records a violation. It is called with the world's lock held.
func (p *play) violate(format string, args ...any) {
	text := fmt.Sprintf("seed %d at %v: ", p.Seed, p.w.Since()) + fmt.Sprintf(format, args...)
	p.w.Note("VIOLATION %s", text)
	if p.Keep && p.res.Stacks == "" {
		p.res.Stacks = stacks()
	}
	if len(p.res.Violations) < mostViolations {
		p.res.Violations = append(p.res.Violations, text)
	}
}

// breach is violate for what needs CLIENT KILL, and the id that it names: without them a command on a broken connection may
// arrive at any time.
func (p *play) breach(format string, args ...any) {
	if p.noKill || p.noID {
		p.allow(killRefused)
		return
	}
	p.violate(format, args...)
}

// violation is violate for a caller without the world's lock.
func (p *play) violation(format string, args ...any) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.violate(format, args...)
}

// note adds to the history.
func (p *play) note(format string, args ...any) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.w.Note(format, args...)
}

// longest keeps the largest measurement of a name.
func (p *play) longest(name string, d time.Duration) {
	if was, is := p.res.Longest[name]; !is || d > was {
		p.res.Longest[name] = d
	}
}

// Add adds the numbers of another play.
func (r *Result) Add(o *Result) {
	r.Virtual += o.Virtual
	r.Entries += o.Entries
	r.Calls += o.Calls
	r.Failovers += o.Failovers
	r.Faults += o.Faults
	r.Events += o.Events
	r.Commands += o.Commands
	for k, n := range o.Outcomes {
		r.Outcomes[k] += n
	}
	for k, n := range o.Allowed {
		r.Allowed[k] += n
	}
	for k, d := range o.Longest {
		if was, is := r.Longest[k]; !is || d > was {
			r.Longest[k] = d
		}
	}
}

func newResult() *Result {
	return &Result{Outcomes: map[string]int{}, Allowed: map[Clause]int{}, Longest: map[string]time.Duration{}}
}
