package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// catalogue is every row in the order of the table.
func catalogue() []scenario {
	return slices.Concat(acquireFaults, unlockFaults, noKillFaults, connectionFaults, refusals, deadServers, dataFaultsFor(),
		pausesFor(), moves, storms)
}

// TestFaults runs every row, the ones that mostly wait beside each other.
func TestFaults(t *testing.T) {
	machine.watch(t)
	names.serve(t)
	began := time.Now()
	all := catalogue()
	rows := make([]*row, len(all))
	for i, s := range all {
		if !s.parallel {
			before := goleak.IgnoreCurrent()
			t.Run(s.fault+", "+s.by, func(t *testing.T) { rows[i] = s.run(t) })
			if err := goleak.Find(before); err != nil {
				t.Errorf("VIOLATION: %s: goroutines are left: %v", s.fault, err)
			}
		}
	}
	t.Run("beside each other", func(t *testing.T) {
		for i, s := range all {
			if s.parallel {
				t.Run(s.fault+", "+s.by, func(t *testing.T) {
					t.Parallel()
					rows[i] = s.run(t)
				})
			}
		}
	})
	took := time.Since(began)
	fmt.Printf("%s\nThe run took %.0f s.\n", table(rows), took.Seconds())
	if *write && !t.Failed() {
		writeTable(t, rows, took)
	}
}
