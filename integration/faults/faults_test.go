package faults

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

const tableFile = "faults"

var columns = []string{"what goes wrong", "made by", "times", "ran on the server", "what the caller got", "longest", "violations"}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// head is the part of a row's line that does not depend on a run.
func (s scenario) head() string {
	return fmt.Sprintf("| %s | %s | %d |", s.fault, s.by, s.times)
}

func table(rows []*row) string {
	var lines []string
	for _, w := range rows {
		if w != nil {
			lines = append(lines, w.line())
		}
	}
	return tabled(lines)
}

// tabled adds the head to a table's lines.
func tabled(lines []string) string {
	return line(columns...) + "|" + strings.Repeat("---|", len(columns)) + "\n" + strings.Join(lines, "")
}

func (w *row) line() string { return line(append([]string{w.fault, w.by}, w.cells()...)...) }

func measured(t *testing.T) string {
	t.Helper()
	_, table, err := tablefile.Read(tableFile)
	testbed.Must(t, err)
	return table
}

// writeTable puts the result of a full run into its file. Rows that -run left out stay as they were measured.
func writeTable(t *testing.T, rows []*row, took time.Duration) {
	t.Helper()
	if !full() {
		t.Fatal("only a full run is written down: -scale 1")
	}
	inside := measured(t)
	lasted := fmt.Sprintf("The run took %.0f minutes.\n", took.Minutes())
	var lines []string
	for i, s := range catalogue() {
		w := rows[i]
		if w == nil {
			_, rest, found := strings.Cut(inside, "\n"+s.head())
			if !found {
				t.Fatalf("%q did not run and was never measured; nothing is written down", s.fault)
			}
			rest, _, _ = strings.Cut(rest, "\n")
			lines = append(lines, s.head()+rest+"\n")
			if at := strings.Index(inside, "The run took"); at >= 0 {
				lasted = inside[at:]
			}
			continue
		}
		if w.cases != w.times {
			t.Fatalf("%q did not run in full; nothing is written down", s.fault)
		}
		lines = append(lines, w.line())
	}
	testbed.Must(t, tablefile.Write(tableFile, tabled(lines)+"\n"+lasted))
}

// TestDocumentHasEveryRow shows that the document has each row of the catalogue once, and no other.
func TestDocumentHasEveryRow(t *testing.T) {
	inside := measured(t)
	for _, s := range catalogue() {
		if n := strings.Count(inside, s.head()); n != 1 {
			t.Errorf("%s has the row %q %d times; run make faults with -write", tablefile.Path(tableFile), s.head(), n)
		}
	}
	if rows := strings.Count(inside, "\n| ") - 1; rows != len(catalogue()) {
		t.Errorf("%s has %d rows, the catalogue %d", tablefile.Path(tableFile), rows, len(catalogue()))
	}
}

// catalogue returns every row in the order of the table.
func catalogue() []scenario {
	return slices.Concat(acquireFaults, unlockFaults, noKillFaults, connectionFaults, refusals, deadServers, dataFaultsFor(),
		pausesFor(), moves, storms, kindFaultsFor())
}

// TestFaults runs every row of a plain lock. Those that mostly wait run in parallel.
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

// TestFaultsByKind runs the rows of each other kind one after the other, and the kinds in parallel.
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

// tell prints the table of the rows that ran. With -write it writes it to its file if the test has not failed.
func tell(t *testing.T, rows []*row, began time.Time) {
	t.Helper()
	took := time.Since(began)
	fmt.Printf("%s\nThe run took %.0f s.\n", table(rows), took.Seconds())
	if *write && !t.Failed() {
		writeTable(t, rows, took)
	}
}

var (
	scale = flag.Float64("scale", 0.05, "which part of each row's full size is run")
	write = flag.Bool("write", false, "put the table into docs/dev/tables/faults.md; needs -scale 1 and no violation")
)

const (
	timeout = 200 * time.Millisecond // of one command; everything else is at its default
	soon    = 10 * time.Second       // a state that is not there by then never comes
	far     = time.Minute            // waits that must not end by themselves
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	flag.Parse()
	// Lanes wait far more than they work.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// scaled returns how many of n are run: four at least, so that a small run has several variants of a row.
func scaled(n int) int { return max(min(n, 4), int(float64(n)**scale+0.5)) }

// full reports whether the run is a full one, with leases of the default length. A small run can't wait for those.
func full() bool { return *scale >= 1 }

// lease is the watchdog timeout of rows that wait for renewals or for the end of a lease.
func lease() time.Duration {
	if full() {
		return 30 * time.Second
	}
	return 3 * time.Second
}
