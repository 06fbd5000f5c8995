package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/bench/peers"
	"github.com/rlock-go/redisson/integration/kit/program"
	"github.com/rlock-go/redisson/integration/kit/runfile"
)

func main() {
	if text := os.Getenv(childVariable); text != "" {
		if err := childMain(text); err != nil {
			fmt.Fprintln(os.Stderr, "bench, child:", err)
			os.Exit(1)
		}
		os.Exit(0) // holds are left; closing 100,000 of them is not measured
	}
	if err := parentMain(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parentMain() (err error) {
	defer caught(&err)
	var names []string
	for _, p := range parts {
		if p.name != kindsPart {
			names = append(names, p.name)
		}
	}
	quick := flag.Bool("quick", false, "a look, below a minute: one short round, smaller crowds")
	chosen := flag.String("parts", strings.Join(names, ","), "which parts to run; "+kindsPart+" is one more")
	only := flag.String("peers", "", "which peers to run beside "+ours+", by their names in the table; default all")
	others := flag.Bool("others", false, "fetch the peers of others and build in those that can be had; the rest is named as missing")
	before := flag.String("before", "", "a commit: the library as it was then is a peer")
	java := flag.Bool("java", true, "run Redisson too (needs Java 17 and Maven)")
	write := flag.Bool("write", false, "write docs/performance.md, docs/dev/tables/performance.md and the run; of a run of kinds docs/dev/tables/kinds.md only")
	from := flag.String("from", "", "make table and document from this file of an earlier run instead of running")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("what is %q?", flag.Args())
	}
	var report *Report
	var failed error
	if *from != "" {
		report = must(runfile.Read[Report](*from))
	} else {
		var missing map[string]string
		if *others || *before != "" {
			missing = must(peers.BuiltIn(peers.Wanted{Others: *others, Before: *before}))
		}
		r := &run{Report: &Report{Quick: *quick}, java: *java, sizes: fullSizes, hung: map[string]bool{}}
		if *quick {
			r.sizes = quickSizes
		}
		if *only != "" {
			r.only = strings.Split(*only, ",")
		}
		failed = r.all(strings.Split(*chosen, ","), missing)
		report = r.Report
	}
	check(printTable(os.Stdout, report)) // what was measured before a part failed, too
	if failed != nil {
		return failed
	}
	if *write {
		return writeDocument(report)
	}
	return nil
}

// all runs the chosen parts. missing has the reasons why peers are missing, by name.
func (r *run) all(chosen []string, missing map[string]string) (err error) {
	defer caught(&err)
	for _, name := range chosen {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	r.Missing = missingPeers(missing, r.wants)
	t := &program.Program{Title: "bench"}
	defer t.Finish()
	s := startServer(t)
	r.server = s
	r.Began = time.Now().UTC().Truncate(time.Second)
	r.Command = strings.Join(append([]string{"go", "run", "."}, os.Args[1:]...), " ")
	r.Machine = describeMachine(s)
	if r.Machine.Redis != redisVersion {
		r.trouble("redis-server is %s, the numbers are meant for %s", r.Machine.Redis, redisVersion)
	}
	check(loadAll(s.addr))
	start := time.Now()
	all, stolen := coreTime()
	for _, p := range parts {
		if !slices.Contains(chosen, p.name) {
			continue
		}
		began := time.Now()
		clear(r.hung)
		if err := p.run(r); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		check(s.clear())
		r.say("%s: %v", p.name, time.Since(began).Round(time.Second))
	}
	r.Took = time.Since(start).Round(time.Second).String()
	if all2, stolen2 := coreTime(); all2 > all {
		r.Machine.Stolen = 100 * (stolen2 - stolen) / (all2 - all)
	}
	return nil
}

func loadAll(addr string) error {
	pool := newPool(addr)
	defer pool.Close()
	return loadScripts(pool)
}

func childMain(text string) error {
	words := strings.SplitN(text, "\n", 4)
	if len(words) != 4 {
		return fmt.Errorf("told %q", text)
	}
	if words[1] == limitName {
		switch words[0] {
		case "hold":
			return bareMain(words[2], words[3])
		case "party":
			return barePartyMain(words[2])
		case networkPart:
			return networkMain(words[2], words[3])
		}
	}
	p := findPeer(words[1])
	if p == nil {
		return fmt.Errorf("no such peer, or it is not built in: %q", words[1])
	}
	open := p.open
	if p.name == ours {
		open = func(addr string) (client, error) { return openOursWith(addr, oursArgument(words[3])...) }
	}
	c, err := open(words[2])
	if err != nil {
		return err
	}
	switch words[0] {
	case "party":
		return partyMain(c)
	case "hold":
		return holdMain(c, words[3])
	case "wait":
		return waitMain(c, words[3])
	case neighbourRole:
		return neighbourMain(c, words[2], words[3])
	}
	return fmt.Errorf("no such role: %q", words[0])
}
