package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/internal/tablefile"
)

// tableFile has the table of a full run.
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

// tabled puts the head on a table's lines.
func tabled(lines []string) string {
	return line(columns...) + "|" + strings.Repeat("---|", len(columns)) + "\n" + strings.Join(lines, "")
}

func (w *row) line() string { return line(append([]string{w.fault, w.by}, w.cells()...)...) }

// measured is what the file has.
func measured(t *testing.T) string {
	t.Helper()
	_, table, err := tablefile.Read(tableFile)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := tablefile.Write(tableFile, tabled(lines)+"\n"+lasted); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentHasEveryRow keeps the document from falling behind the catalogue.
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
