package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// row compares one cast without courtesy and with it, and optionally its Go processes alone, without courtesy.
type row struct {
	name string
	cast
	alone bool
}

// cast says which processes take part in a slice, and what they do.
type cast struct {
	goes, java int  // processes, of workersOfEach goroutines or threads
	idle       bool // a subscriber listens for the lock's releases and never wants it
	hold       time.Duration
	courteous  bool

	// goWorkers and goThink, if set, apply to the Go processes only.
	goWorkers int
	goThink   time.Duration
}

const (
	workersOfEach = 4
	ms            = time.Millisecond
)

var rows = []row{
	{"2go1java", cast{goes: 2, java: 1, hold: ms}, true},
	{"1go1java", cast{goes: 1, java: 1, hold: ms}, true},
	{"4go1java", cast{goes: 4, java: 1, hold: ms}, false},
	{"2go", cast{goes: 2, hold: ms}, false},
	{"1go", cast{goes: 1, hold: ms}, false},
	{"1goidle", cast{goes: 1, idle: true, hold: ms}, false},
	{"2goidle", cast{goes: 2, idle: true, hold: ms}, false},
	{"2go1java-10ms", cast{goes: 2, java: 1, hold: 10 * ms}, false},
	{"2go1java-0", cast{goes: 2, java: 1}, false},
	{"1go2java", cast{goes: 1, java: 2, hold: ms}, false},
	{"think", cast{goes: 1, java: 2, hold: ms, goWorkers: 1, goThink: 50 * ms}, false},
}

func (c cast) String() string {
	who := []string{fmt.Sprintf("%d Go", c.goes)}
	if c.goWorkers > 0 {
		who[0] += fmt.Sprintf(" (%d worker, %s between two locks)", c.goWorkers, holdText(c.goThink))
	}
	if c.java > 0 {
		who = append(who, fmt.Sprintf("%d Java", c.java))
	}
	if c.idle {
		who = append(who, "a subscriber that never wants it")
	}
	return strings.Join(who, " + ")
}

func chooseRows(names string) (chosen []row, err error) {
	if names == "" {
		return rows, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no row %q", name)
		}
		chosen = append(chosen, rows[i])
	}
	return chosen, nil
}
