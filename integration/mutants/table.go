package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

// tableFile has the table of a full run.
const tableFile = "mutants"

// row is one defect with the result of its run.
type row struct {
	defect
	missed []catcher
	took   time.Duration
}

// head is the part of a row's line that does not depend on a run.
func (d defect) head() string {
	return fmt.Sprintf("| %s | %s | %s | %s |", d.guards, d.what, d.where(), strings.Join(d.by, ", "))
}

// seconds is the cell that the defect's own tests give.
func (r row) seconds() string {
	if len(r.missed) == 0 {
		return fmt.Sprintf("%.0f", r.took.Seconds())
	}
	var names []string
	for _, c := range r.missed {
		names = append(names, c.test)
	}
	return fmt.Sprintf("SURVIVED %s, %.0f", strings.Join(names, ", "), r.took.Seconds())
}

// cells are those of a line that runs have written.
type cells struct {
	seconds    string // of the defect's own tests
	simulation string // the rule by which the simulation sees it, or missed
}

// written returns the cells that a table has for a defect.
func (d defect) written(table string) (c cells) {
	_, rest, found := strings.Cut(table, d.head())
	if !found {
		return c
	}
	line, _, _ := strings.Cut(rest, "\n")
	both := strings.Split(line, "|")
	c.seconds = strings.TrimSpace(both[0])
	if len(both) > 1 {
		c.simulation = strings.TrimSpace(both[1])
	}
	return c
}

// table writes the lines of defects.
func table(defects []defect, of func(d defect) cells) string {
	var b strings.Builder
	b.WriteString("| stands for | defect | in | caught by | seconds | simulation |\n|---|---|---|---|---|---|\n")
	for _, d := range defects {
		c := of(d)
		fmt.Fprintf(&b, "%s %s | %s |\n", d.head(), c.seconds, c.simulation)
	}
	return b.String()
}

// writeTable writes the result of a run into its file, in place of the former seconds of the same defects.
func writeTable(before string, rows []row, took time.Duration) error {
	now := map[string]row{}
	for _, r := range rows {
		now[r.what] = r
	}
	return write(before, func(d defect) cells {
		c := d.written(before)
		if r, tried := now[d.what]; tried {
			c.seconds = r.seconds()
		}
		return c
	}, fmt.Sprintf("None survived. The last run tried %d of them, in %.0f minutes.", len(rows), took.Minutes()))
}

// writeVerdict writes whether the simulation sees one defect.
func writeVerdict(before string, seen defect, verdict string) error {
	return write(before, func(d defect) cells {
		c := d.written(before)
		if d.what == seen.what {
			c.simulation = verdict
		}
		return c
	}, lastRun(before))
}

// lastRun is the sentence about the last run of the defects' own tests.
func lastRun(before string) string {
	for line := range strings.Lines(before) {
		if strings.HasPrefix(line, "None survived. ") {
			return strings.TrimSpace(line)
		}
	}
	return "No run is complete."
}

// write writes the whole table with a summary of what the simulation sees.
func write(before string, of func(d defect) cells, last string) error {
	tried, seen, triedCore, seenCore, core := 0, 0, 0, 0, 0
	for _, d := range catalogue() {
		verdict := of(d).simulation
		if d.core() {
			core++
		}
		if verdict == "" {
			continue
		}
		tried++
		if d.core() {
			triedCore++
		}
		if verdict != missed {
			seen++
			if d.core() {
				seenCore++
			}
		}
	}
	return tablefile.Write(tableFile, table(catalogue(), of)+"\n"+last+"\n\n"+fmt.Sprintf(
		"Of %d mistakes the simulation was tried against %d, and sees %d. %d are about faults, order, leases or repetitions: "+
			"of these it was tried against %d, and sees %d.\n", len(catalogue()), tried, seen, core, triedCore, seenCore))
}

func printTable(rows []row) {
	var all []defect
	results := map[string]row{}
	for _, r := range rows {
		all = append(all, r.defect)
		results[r.what] = r
	}
	fmt.Fprintf(os.Stdout, "\n%s\n", table(all, func(d defect) cells { return cells{seconds: results[d.what].seconds()} }))
}
