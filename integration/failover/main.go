package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// part is one kind of trouble, with how often it is made in a full run.
type part struct {
	kind string
	full int
	play func(kind string, rounds int, tell func(result))
}

// onSets plays rounds on a set each.
func onSets(kind string, rounds int, tell func(result)) {
	for range rounds {
		tell(sentinelRound(kind))
	}
}

// parts are all kinds, in the order of the table: 20 failovers behind Sentinels, 20 dead masters of a cluster.
var parts = []part{
	{planned, 7, onSets},
	{killed, 7, onSets},
	{silenced, 6, onSets},
	{parted, 5, onSets},
	{deaf, 2, onSets},
	{clusterKilled, 20, clusterRounds},
	{clusterParted, 5, clusterRounds},
	{clusterPaused, 3, func(_ string, rounds int, tell func(result)) { pausedRounds(rounds, tell) }},
	{clusterMoved, 5, func(_ string, rounds int, tell func(result)) { movedRounds(rounds, tell) }},
}

func main() {
	full := flag.Bool("full", false, "play all rounds, not one of each kind")
	write := flag.Bool("write", false, "put the table into "+document+" if nothing was wrong")
	only := flag.String("only", "", "only the kind whose name has these words")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	os.Exit(run(*full, *write, *only))
}

// run plays the rounds and says what came of them; its result is the exit status.
func run(full, write bool, only string) (status int) {
	began, commit := time.Now(), revision()
	var all []result
	for _, p := range chosen(only) {
		rounds := 1
		if full {
			rounds = p.full
		}
		p.play(p.kind, rounds, func(r result) {
			all = append(all, r)
			fmt.Printf("%6.0f s  %v\n", time.Since(began).Seconds(), r)
			if len(r.wrong) > 0 {
				status = 1
			}
		})
	}
	text := table(all) + "\n" + circumstances(commit, time.Since(began))
	fmt.Printf("\n%s", text)
	if write && status == 0 && only == "" {
		if err := writeTable(text); err != nil {
			fmt.Println("failover:", err)
			status = 1
		}
	}
	return status
}
