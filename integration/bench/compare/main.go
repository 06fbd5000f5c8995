package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/bench/peers"
	"github.com/rlock-go/redisson/integration/kit/runfile"
)

func main() {
	if text := os.Getenv(childVariable); text != "" {
		if err := childMain(text); err != nil {
			fmt.Fprintln(os.Stderr, "compare, child:", err)
			os.Exit(1)
		}
		return
	}
	if err := parentMain(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func parentMain() error {
	rounds := flag.Int("rounds", 20, "rounds of each cell")
	only := flag.String("only", "", "cells, as fault/party, between semicolons; either may be left empty for all, and a word of it is enough")
	java := flag.Bool("java", true, "run Redisson too (needs Java 17 and Maven)")
	write := flag.Bool("write", false, "write docs/dev/compare.md and docs/dev/compare/run.json")
	into := flag.String("into", "", "put the cells into the JSON of an earlier run, in place of those it had")
	from := flag.String("from", "", "write them from the JSON of an earlier run instead of running")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("what is %q?", flag.Args())
	}
	if *from != "" {
		r, err := runfile.Read[Report](*from)
		if err != nil {
			return err
		}
		return finish(r, *write)
	}
	reasons, err := peers.BuiltIn(peers.Wanted{Others: true, Program: "./compare"})
	if err != nil {
		return err
	}
	r := &run{Report: &Report{
		Command: strings.Join(append([]string{"go", "run", "./compare"}, os.Args[1:]...), " "),
		Began:   time.Now().UTC().Truncate(time.Second), Redis: redisVersion(), Go: runtime.Version(), Rounds: *rounds, Missing: map[string]string{},
	}}
	for _, p := range parties() {
		switch {
		case p.absent != "":
			r.Missing[p.name] = p.absent
		case p.name == javaP && !*java:
			r.Missing[p.name] = "the run was without Java"
		case p.open == nil:
			module, _, _ := strings.Cut(p.name, ",")
			r.Missing[p.name] = cmp.Or(reasons[module], "it was not built in")
		}
	}
	wanted, err := cells(*only)
	if err != nil {
		return err
	}
	r.all(func(f *fault, p *party) bool { return wanted(f, p) && r.Missing[p.name] == "" })
	if *into != "" {
		earlier, err := runfile.Read[Report](*into)
		if err != nil {
			return err
		}
		r.Report = earlier.with(r.Report, *only)
	}
	r.sort()
	return finish(r.Report, *write)
}

// cells returns which cells the text of -only selects.
func cells(only string) (func(f *fault, p *party) bool, error) {
	if only == "" {
		return func(*fault, *party) bool { return true }, nil
	}
	var all [][2]string
	for text := range strings.SplitSeq(only, ";") {
		fault, party, _ := strings.Cut(strings.TrimSpace(text), "/")
		all = append(all, [2]string{fault, party})
	}
	wanted := func(f *fault, p *party) bool {
		for _, w := range all {
			// A full name selects that party alone: "redsync" is part of another name.
			if strings.Contains(f.name, w[0]) && (p.name == w[1] || findParty(w[1]) == nil && strings.Contains(p.name, w[1])) {
				return true
			}
		}
		return false
	}
	for _, f := range faults() {
		for _, p := range parties() {
			if wanted(&f, p) {
				return wanted, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no cell %q", only)
}

// finish prints a report, and writes it if write is set.
func finish(r *Report, write bool) error {
	page := r.page()
	fmt.Println(page)
	if !write {
		return nil
	}
	return r.write(page)
}

// redisVersion is the version of the tests' redis-server.
func redisVersion() string {
	bin := os.Getenv("RLOCK_REDIS_SERVER")
	if bin == "" {
		bin = "redis-server"
	}
	out, err := exec.Command(bin, "--version").Output()
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(out), " v=")
	version, _, _ := strings.Cut(rest, " ")
	return version
}
