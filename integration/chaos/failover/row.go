package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// row is one line of the table: what happens, and for how long a master waits for further replicas before it feeds one.
type row struct {
	kind  string
	delay int // repl-diskless-sync-delay, in seconds
}

func (w row) String() string { return fmt.Sprintf("%s, sync delay %d", w.kind, w.delay) }

const standard = 5

type part struct {
	kind   string
	delays []int // of its rows
	full   int   // rounds of a row in a full run
	play   func(w row, rounds int, tell func(result))
	// soon bounds the time from the next master's first answer, or from the loss of a replica, until each lock is entered
	// again. Tests don't apply it. 0: no bound.
	soon time.Duration
	long bool // tests leave it out, because another one is like it
}

var every = []int{0, standard, 25}

const (
	afterFailover = 3 * time.Second
	// afterReplica is a little more than Redisson needs to see that a replica is gone.
	afterReplica = 5 * time.Second
)

var parts = []part{
	{planned, every, 2, sentinelRounds, afterFailover, false},
	{killed, every, 2, sentinelRounds, afterFailover, false},
	{silenced, every, 2, sentinelRounds, afterFailover, true},
	{parted, []int{standard}, 2, sentinelRounds, 0, true},
	{deaf, []int{standard}, 1, sentinelRounds, 0, false},
	{clusterGraceful, every, 2, clusterRounds, afterFailover, false},
	{clusterForced, every, 2, clusterRounds, afterFailover, true},
	{clusterTaken, every, 2, clusterRounds, afterFailover, true},
	{clusterKilled, every, 2, clusterRounds, afterFailover, false},
	{clusterParted, []int{standard}, 2, clusterRounds, 0, true},
	{clusterPaused, []int{standard}, 2, pausedRounds, 0, false},
	{clusterMoved, []int{standard}, 2, movedRounds, 0, false},
	{onlyGoes, []int{standard, 25}, 1, serverRounds, afterReplica, true},
	{firstJoin, []int{standard, 25}, 1, sentinelRounds, afterReplica, true},
	{oneOfTwoGoes, []int{standard, 25}, 1, sentinelRounds, afterReplica, true},
	{bothGo, []int{standard, 25}, 1, sentinelRounds, afterReplica, false},
	{clusterOnlyGoes, []int{standard, 25}, 1, clusterRounds, afterReplica, true},
}

// chosen returns the parts whose name contains words.
func chosen(words string) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !strings.Contains(p.kind, words) })
}

// rows returns all rows of a part, or only that of the standard delay, and then none of a long part.
func (p part) rows(all bool) (rows []row) {
	for _, delay := range p.delays {
		if all || delay == standard && !p.long {
			rows = append(rows, row{p.kind, delay})
		}
	}
	return rows
}
