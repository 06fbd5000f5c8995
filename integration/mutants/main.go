package main

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

func main() {
	only := flag.String("only", "", "only the defects whose words, or what they stand for, match this regular expression")
	untried := flag.Bool("untried", false, "only the defects of which the table has no row")
	write := flag.Bool("write", false, "put the rows into "+tablefile.Path(tableFile)+", if each was caught")
	verbose := flag.Bool("v", false, "print what the tests of a defect that survives printed")
	lanes := flag.Int("lanes", 1, "so many defects at a time")
	simulated := flag.Duration("simulate", 0, "instead of the tests: play the simulation with each defect for so much processor time")
	cored := flag.Bool("core", false, "only the defects about faults, order, leases and repetitions")
	sample := flag.Int("sample", 1, "only one of so many, evenly spread")
	lay := flag.String("lay", "", "instead: write the only defect that matches into this `folder`, as an overlay for go build")
	flag.Parse()
	keep := func(i int, d defect, before string) bool {
		c := d.written(before)
		tried := c.seconds
		if *simulated > 0 {
			tried = c.simulation
		}
		return (!*untried || tried == "") && (!*cored || d.core()) && i%max(*sample, 1) == 0
	}
	do := func() error { return run(*only, keep, max(*lanes, 1), *simulated, *write, *verbose) }
	if *lay != "" {
		do = func() error { return layOnly(*only, *lay) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// layOnly writes an overlay with the one defect that matches, to build something with it by hand.
func layOnly(only, folder string) error {
	words, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	src, err := readSource()
	if err != nil {
		return err
	}
	defects := slices.DeleteFunc(catalogue(), func(d defect) bool { return !words.MatchString(d.what + " " + d.guards) })
	if len(defects) != 1 {
		return fmt.Errorf("mutants: %d defects match", len(defects))
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	overlay, err := src.library.Overlay(folder, defects[0].edits...)
	fmt.Println(overlay)
	return err
}

func run(only string, keep func(i int, d defect, before string) bool, lanes int, simulated time.Duration, write, verbose bool) error {
	words, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	src, err := readSource()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	b := bench{src, temp}
	_, before, err := tablefile.Read(tableFile)
	if err != nil {
		return err
	}
	var defects []defect
	for i, d := range catalogue() {
		if words.MatchString(d.what+" "+d.guards) && keep(i, d, before) {
			defects = append(defects, d)
		}
	}
	if len(defects) == 0 {
		return errors.New("mutants: no such defect")
	}
	if simulated > 0 {
		return b.simulateAll(defects, lanes, simulated, write)
	}
	began := time.Now()
	if err := b.passUnchanged(defects); err != nil {
		return err
	}
	rows, err := b.tryAll(defects, lanes, verbose)
	if err != nil {
		return err
	}
	took := time.Since(began)
	survived := 0
	for _, r := range rows {
		if len(r.missed) > 0 {
			survived++
		}
	}
	printTable(rows)
	fmt.Printf("%d defects, %d survived, %.0f s.\n", len(rows), survived, took.Seconds())
	switch {
	case survived > 0:
		return errors.New("mutants: a defect survived")
	case write:
		return writeTable(before, rows, took)
	}
	return nil
}

// passUnchanged checks that the tests pass without a defect; otherwise their failure would prove nothing.
func (b bench) passUnchanged(defects []defect) error {
	var all []catcher
	for _, d := range defects {
		by, err := b.catchers(d)
		if err != nil {
			return err
		}
		all = append(all, by...)
	}
	for pkg, names := range byPackage(all) {
		binary, err := b.build(pkg, "")
		if err != nil {
			return err
		}
		o, err := b.run(binary, pkg, 5*testLimit, names...)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !o.ok || !slices.Contains(o.passed, name) {
				return fmt.Errorf("mutants: %s of %s, or what ran beside it, does not pass unchanged\n%s", name, pkg, o.output)
			}
		}
		fmt.Fprintf(os.Stderr, "unchanged: %d tests of %s pass\n", len(names), pkg)
	}
	return nil
}

// byPackage returns each package with the names of its tests, each once, in order.
func byPackage(all []catcher) iter.Seq2[string, []string] {
	var pkgs []string
	names := map[string][]string{}
	for _, c := range all {
		if names[c.pkg] == nil {
			pkgs = append(pkgs, c.pkg)
		}
		if !slices.Contains(names[c.pkg], c.test) {
			names[c.pkg] = append(names[c.pkg], c.test)
		}
	}
	return func(yield func(string, []string) bool) {
		for _, pkg := range pkgs {
			if !yield(pkg, names[pkg]) {
				return
			}
		}
	}
}

// try runs the tests of d with the defect and returns those that did not notice it.
func (b bench) try(d defect, verbose bool) (missed []catcher, err error) {
	by, err := b.catchers(d)
	if err != nil {
		return nil, err
	}
	overlay, err := b.library.Overlay(b.temp, d.edits...)
	if err != nil {
		return nil, err
	}
	for pkg, names := range byPackage(by) {
		binary, err := b.build(pkg, overlay)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			// One test a run: a panic would end the others as well.
			o, err := b.run(binary, pkg, testLimit, name)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(o.failed, name) {
				missed = append(missed, catcher{pkg, name})
				if verbose {
					fmt.Fprintln(os.Stderr, o.output)
				}
			}
		}
	}
	return missed, nil
}
