package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
)

func main() {
	obeyIfChild()
	var p plan
	names := flag.String("rows", "", "rows to measure, parted by commas; default all: "+strings.Join(rowNames(), ", "))
	seconds := flag.Float64("seconds", 20, "how long each cast of a row is measured, in all its slices")
	flag.DurationVar(&p.slice, "slice", 2500*time.Millisecond, "how long one cast has the stage, the first half second included")
	warm := flag.Duration("warm", fullWarming, "how long a JVM runs the same load before; with little of it Java is slower")
	courtesy := flag.String("courtesy", "both", "off, on or both")
	write := flag.Bool("write", false, "put the tables into docs/dev/tables/courtesy.md and docs/performance.md")
	flag.Parse()
	if flag.NArg() > 0 || !slices.Contains([]string{"off", "on", "both"}, *courtesy) || p.slice <= settling {
		flag.Usage()
		os.Exit(2)
	}
	p.rounds = max(1, int(*seconds/(p.slice-settling).Seconds()+0.5))
	p.off, p.on = *courtesy != "on", *courtesy != "off" && courtesyExists
	if *courtesy == "on" && !courtesyExists {
		fmt.Fprintln(os.Stderr, "javacourtesy: this client has no courtesy to switch on")
		os.Exit(2)
	}
	if *write && (*names != "" || !p.off || !p.on) {
		fmt.Fprintln(os.Stderr, "javacourtesy: -write is for a run of all rows, with courtesy and without")
		os.Exit(2)
	}
	var err error
	if p.rows, err = chooseRows(*names); err != nil {
		fmt.Fprintln(os.Stderr, "javacourtesy:", err)
		os.Exit(2)
	}
	os.Exit(run(p, *warm, *write))
}

// run runs as a test would, so that servers and processes end with it.
func run(p plan, warm time.Duration, write bool) (status int) {
	pr := &testbed.Program{Title: "javacourtesy"}
	defer pr.End(&status)
	s := newStage(pr)
	s.warming = warm
	report := p.measure(s, func(r *rowResult) { fmt.Print(r.text()) })
	if write {
		if err := writeDocument(report); err != nil {
			pr.Fatal(err)
		}
	}
	return 0
}
