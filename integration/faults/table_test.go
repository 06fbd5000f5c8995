package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	guarantees = "../../docs/guarantees.md"
	begins     = "<!-- the table of make faults: written by it, not by hand -->\n"
	ends       = "<!-- end of the table -->\n"
)

var columns = []string{"what goes wrong", "made by", "times", "ran on the server", "what the caller got", "longest", "violations"}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// head is the part of a row's line that does not depend on a run.
func (s scenario) head() string {
	return fmt.Sprintf("| %s | %s | %d |", s.fault, s.by, s.times)
}

func table(rows []*row) string {
	var b strings.Builder
	b.WriteString(line(columns...))
	b.WriteString("|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, w := range rows {
		if w != nil {
			b.WriteString(line(append([]string{w.fault, w.by}, w.cells()...)...))
		}
	}
	return b.String()
}

// cut splits the document at the table.
func cut(t *testing.T) (before, inside, after string) {
	t.Helper()
	text, err := os.ReadFile(guarantees)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begins)
	inside, after, closed := strings.Cut(rest, ends)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", guarantees)
	}
	return before, inside, after
}

// writeTable puts the result of a full run into the document.
func writeTable(t *testing.T, rows []*row, took time.Duration) {
	t.Helper()
	if !full() {
		t.Fatal("only a full run is written down: -scale 1")
	}
	for _, w := range rows {
		if w == nil || w.cases != w.times {
			t.Fatal("not every row ran in full; nothing is written down")
		}
	}
	before, _, after := cut(t)
	text := before + begins + "\n" + table(rows) + "\n" + fmt.Sprintf("The run took %.0f minutes.\n", took.Minutes()) + ends + after
	if err := os.WriteFile(guarantees, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentHasEveryRow keeps the document from falling behind the catalogue.
func TestDocumentHasEveryRow(t *testing.T) {
	_, inside, _ := cut(t)
	for _, s := range catalogue() {
		if n := strings.Count(inside, s.head()); n != 1 {
			t.Errorf("%s has the row %q %d times; run make faults with -write", guarantees, s.head(), n)
		}
	}
	if rows := strings.Count(inside, "\n| ") - 1; rows != len(catalogue()) {
		t.Errorf("%s has %d rows, the catalogue %d", guarantees, rows, len(catalogue()))
	}
}
