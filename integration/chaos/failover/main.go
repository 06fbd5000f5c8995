package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

func main() {
	full := flag.Bool("full", false, "play all rounds of all rows, not one of each kind with Redis's own delay")
	write := flag.Bool("write", false, "put the table into "+tablefile.Path(tableFile)+" if nothing was wrong")
	only := flag.String("only", "", "only the kinds whose name has these words")
	java := flag.Bool("beside", false, "play what happens to replicas beside Redisson, and nothing else")
	kinds := flag.Bool("kinds", false, "play all kinds of locks over all failovers, and nothing else; with -write the table goes into "+tablefile.Path(matrixFile))
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *kinds {
		os.Exit(playMatrix(*only, *write))
	}
	if *java {
		os.Exit(playBeside(*only))
	}
	os.Exit(run(*full, *write, *only))
}

// run plays the rounds, prints their results, and returns the exit status.
func run(full, write bool, only string) (status int) {
	began, commit := time.Now(), revision()
	var all []result
	for _, p := range chosen(only) {
		rounds := 1
		if full {
			rounds = p.full
		}
		for _, w := range p.rows(full) {
			p.play(w, rounds, func(r result) {
				if p.soon > 0 && r.again > p.soon && r.excuse == "" {
					r.violate("nobody entered %s for %v", r.where, short(r.again))
				}
				all = append(all, r)
				fmt.Printf("%6.0f s  %v\n", time.Since(began).Seconds(), r)
				if len(r.wrong) > 0 {
					status = 1
				}
			})
		}
	}
	text := table(all) + "\n" + circumstances(commit, time.Since(began))
	return told(text, tableFile, write && only == "", status)
}

// told prints a table, and writes it to its file if write is true and status is 0. It returns the exit status.
func told(text, file string, write bool, status int) int {
	fmt.Printf("\n%s", text)
	if write && status == 0 {
		if err := tablefile.Write(file, text); err != nil {
			fmt.Println("failover:", err)
			return 1
		}
	}
	return status
}
