package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/testbed"
)

// catalogue is every row in the order of the table.
func catalogue() []scenario {
	return slices.Concat(acquireFaults, unlockFaults, noKillFaults, connectionFaults, refusals, deadServers, dataFaultsFor(),
		pausesFor(), moves, storms, kindFaultsFor())
}

// TestFaults runs every row of a plain lock, the ones that mostly wait beside each other.
func TestFaults(t *testing.T) {
	machine.watch(t)
	names.serve(t)
	began := time.Now()
	all := catalogue()
	rows := make([]*row, len(all))
	for i, s := range all {
		if !s.parallel && s.kind.New == nil {
			before := goleak.IgnoreCurrent()
			t.Run(s.fault+", "+s.by, func(t *testing.T) { rows[i] = s.run(t) })
			if err := goleak.Find(before); err != nil {
				t.Errorf("VIOLATION: %s: goroutines are left: %v", s.fault, err)
			}
		}
	}
	t.Run("beside each other", func(t *testing.T) {
		for i, s := range all {
			if s.parallel && s.kind.New == nil {
				t.Run(s.fault+", "+s.by, func(t *testing.T) {
					t.Parallel()
					rows[i] = s.run(t)
				})
			}
		}
	})
	tell(t, rows, began)
}

// TestFaultsByKind runs the rows of each other kind behind each other, and the kinds beside each other.
func TestFaultsByKind(t *testing.T) {
	machine.watch(t)
	began := time.Now()
	all := catalogue()
	rows := make([]*row, len(all))
	t.Run("kinds", func(t *testing.T) {
		for _, k := range testbed.Kinds {
			t.Run(k.Name, func(t *testing.T) {
				t.Parallel()
				for i, s := range all {
					if s.kind.Name == k.Name {
						t.Run(s.fault+", "+s.by, func(t *testing.T) { rows[i] = s.run(t) })
					}
				}
			})
		}
	})
	tell(t, rows, began)
}

// tell prints what became of the rows that ran, and writes it down if that is wanted.
func tell(t *testing.T, rows []*row, began time.Time) {
	t.Helper()
	took := time.Since(began)
	fmt.Printf("%s\nThe run took %.0f s.\n", table(rows), took.Seconds())
	if *write && !t.Failed() {
		writeTable(t, rows, took)
	}
}
