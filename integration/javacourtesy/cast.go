package main

import (
	"fmt"
	"strings"
	"time"
)

// cast is who is on the stage in a slice, and what they do there.
type cast struct {
	goes, java int  // processes
	idle       bool // a process that listens for the lock's releases and never wants it
	workers    int  // goroutines or threads of each process
	hold       time.Duration
	courteous  bool

	// goWorkers and goThink, if set, are those of the Go processes alone.
	goWorkers int
	goThink   time.Duration
}

// workersOfEach is what every row has but for one.
const workersOfEach = 4

func busy(goes, java int, hold time.Duration) cast {
	return cast{goes: goes, java: java, workers: workersOfEach, hold: hold}
}

func (c cast) with(courteous bool) cast {
	c.courteous = courteous
	return c
}

// beside is the same with a subscriber that never wants the lock.
func (c cast) beside() cast {
	c.idle = true
	return c
}

// thinking is the same with Go processes that want the lock only now and then.
func (c cast) thinking(workers int, think time.Duration) cast {
	c.goWorkers, c.goThink = workers, think
	return c
}

func (c cast) String() string {
	var who []string
	if c.goes > 0 {
		who = append(who, fmt.Sprintf("%d Go", c.goes))
	}
	if c.goWorkers > 0 {
		who[0] = fmt.Sprintf("%d Go (%d worker, %s between two locks)", c.goes, c.goWorkers, holdText(c.goThink))
	}
	if c.java > 0 {
		who = append(who, fmt.Sprintf("%d Java", c.java))
	}
	if c.idle {
		who = append(who, "a subscriber that never wants it")
	}
	return strings.Join(who, " + ")
}
