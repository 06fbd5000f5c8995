package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
	"github.com/rlock-go/redisson/integration/simulation"
)

// firstSeed is the one that every play begins with, so that the unchanged code has played whatever the defects play.
const firstSeed = 1

// simulateAll plays the simulation with each defect for so long. With write, each verdict goes into the table at once,
// so that a run that was ended goes on with -untried.
func (b bench) simulateAll(defects []defect, lanes int, lasts time.Duration, write bool) error {
	seen, output, err := b.simulate("", 3*lasts)
	if err != nil {
		return err
	}
	if seen != missed {
		return fmt.Errorf("mutants: the simulation is not clean unchanged: %s\n%s", seen, output)
	}
	fmt.Fprintf(os.Stderr, "unchanged: clean for %v\n", 3*lasts)
	var one sync.Mutex // guards what follows
	found := 0
	err = inLanes(len(defects), lanes, func(lane, i int) error {
		own := bench{b.source, filepath.Join(b.temp, strconv.Itoa(lane))}
		if err := os.MkdirAll(own.temp, 0o755); err != nil {
			return err
		}
		d, began := defects[i], time.Now()
		overlay, err := own.library.Overlay(own.temp, d.edits...)
		if err != nil {
			return fmt.Errorf("%s: %w", d.what, err)
		}
		seen, _, err := own.simulate(overlay, lasts)
		if err != nil {
			return fmt.Errorf("%s: %w", d.what, err)
		}
		one.Lock()
		defer one.Unlock()
		if seen != missed {
			found++
		}
		fmt.Printf("%-12s %3.0f s  %s: %s\n", seen, time.Since(began).Seconds(), d.guards, d.what)
		if !write {
			return nil
		}
		_, before, err := tablefile.Read(tableFile)
		if err != nil {
			return err
		}
		return writeVerdict(before, d, seen)
	})
	fmt.Printf("The simulation found %d of %d.\n", found, len(defects))
	return err
}

// missed is the verdict of a play in which nothing was seen.
const missed = "missed"

// simulate builds the simulation with an overlay, plays it, and returns the rule that was broken first.
func (b bench) simulate(overlay string, lasts time.Duration) (verdict, output string, err error) {
	binary := filepath.Join(b.temp, "simulation.bin")
	if out, err := b.command(buildLimit, "integration", "go", "test", "-p", "1", "-vet=off", "-overlay", overlay, "-c", "-o", binary, "./simulation"); err != nil {
		return "", "", fmt.Errorf("the simulation does not build: %w\n%s", err, out)
	}
	out, err := b.command(lasts+10*time.Minute, "integration/simulation", binary,
		"-test.run", "^TestSeeds$", "-test.timeout", "0", "-for", lasts.String(), "-seed", strconv.Itoa(firstSeed))
	if err == nil {
		return missed, out, nil
	}
	if _, ran := errors.AsType[*exec.ExitError](err); !ran {
		return "", "", fmt.Errorf("the simulation: %w\n%s", err, out)
	}
	return firstRule(out), out, nil
}

// firstRule returns the rule of the first violation in what a failed play printed, or how the process ended.
func firstRule(output string) string {
	for line := range strings.Lines(output) {
		switch at := strings.Index(line, "seed "); {
		case strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: "):
			return "panic"
		case at >= 0 && strings.Contains(line, " at "):
			return simulation.Rule(strings.TrimSpace(line[at:]))
		}
	}
	return "failure"
}
