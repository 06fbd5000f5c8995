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
	// soon is how long after the next master's first answer, or after a replica went, each lock must have been entered
	// again in a full run; 0: nothing is said.
	soon time.Duration
	long bool // make test has another one like it
}

var every = []int{0, standard, 25}

const (
	afterFailover = 3 * time.Second
	// afterReplica is what Redisson takes to see that a replica is gone, and a little.
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

// chosen are the parts whose name has these words.
func chosen(words string) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !strings.Contains(p.kind, words) })
}

// rows are a part's, or that of the standard delay alone.
func (p part) rows(all bool) (rows []row) {
	for _, delay := range p.delays {
		if all || delay == standard && !p.long {
			rows = append(rows, row{p.kind, delay})
		}
	}
	return rows
}
