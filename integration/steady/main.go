// Command steady runs go test, and runs a failed test again if the machine stood still while it ran.
//
//	steady [flags of go test] packages
//
// The tests of locks wait for leases of a second or two, and a virtual machine whose host has other things to do may stop
// for longer: then locks are lost, as they have to be, and a test that meant to hold one fails. Running every failed test
// again would hide what fails once in a hundred times, so that is done only for the machine's doing, which is measured
// apart from the tests: a thread on each core sleeps, and notes when it was woken much too late. A test that failed
// without such a gap between its beginning and its end has failed. So has one with a data race or a panic, a package
// without a failed test, as after a timeout, and whatever fails a third time.
//
// What it prints is what go test prints, and each test that is run again, with the reason. It ends with 0 if every test
// passed in the end, else with 1.
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runs is how often a test is run at most.
const runs = 3

func main() {
	w, err := watchStalls()
	if err == nil {
		err = steady(os.Stdout, os.Args[1:], w.during)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "steady:", err)
		os.Exit(1)
	}
}

// steady runs go test with these arguments. during gives the longest stall in a time.
func steady(out io.Writer, args []string, during func(from, to time.Time) time.Duration) error {
	type job struct {
		args []string
		run  int
	}
	flags := flagsOf(args)
	for jobs := []job{{args, 1}}; len(jobs) > 0; jobs = jobs[1:] {
		j := jobs[0]
		r, err := goTest(out, j.args)
		if err != nil {
			return err
		}
		if r.passed {
			continue
		}
		again, err := r.excused(during)
		if err != nil {
			return err
		}
		if j.run == runs {
			return fmt.Errorf("failed %d times", runs)
		}
		for _, pkg := range slices.Sorted(maps.Keys(again)) {
			var names []string
			for _, name := range again[pkg] {
				names = append(names, regexp.QuoteMeta(name))
			}
			// Of several -run the last counts.
			only := "-run=^(" + strings.Join(names, "|") + ")$"
			jobs = append(jobs, job{slices.Concat(flags, []string{only, pkg}), j.run + 1})
		}
	}
	return nil
}

// valued are the flags in use whose value may be the next word.
var valued = []string{"-count", "-p", "-run", "-skip", "-timeout"}

// flagsOf are the arguments before the packages.
func flagsOf(args []string) []string {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			return args[:i:i]
		}
		if slices.Contains(valued, args[i]) {
			i++
		}
	}
	return args
}
