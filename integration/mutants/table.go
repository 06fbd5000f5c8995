package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	document = "docs/dev/mutants.md"
	begins   = "<!-- the table of make mutants: written by it, not by hand -->\n"
	ends     = "<!-- end of the table -->\n"
)

// row is one defect and what became of it.
type row struct {
	defect
	missed []catcher
	took   time.Duration
}

// head is the part of a row's line that does not depend on a run.
func (d defect) head() string {
	return fmt.Sprintf("| %s | %s | %s | %s |", d.guards, d.what, d.where(), strings.Join(d.by, ", "))
}

func (r row) line() string {
	if len(r.missed) == 0 {
		return fmt.Sprintf("%s %.0f |\n", r.head(), r.took.Seconds())
	}
	var names []string
	for _, c := range r.missed {
		names = append(names, c.test)
	}
	return fmt.Sprintf("| %s | %s | %s | SURVIVED %s | %.0f |\n", r.guards, r.what, r.where(), strings.Join(names, ", "), r.took.Seconds())
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| stands for | defect | in | caught by | seconds |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		b.WriteString(r.line())
	}
	return b.String()
}

// cut splits the document at the table.
func cut(root string) (before, inside, after string, err error) {
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return "", "", "", err
	}
	before, rest, found := strings.Cut(string(text), begins)
	inside, after, closed := strings.Cut(rest, ends)
	if !found || !closed {
		return "", "", "", fmt.Errorf("mutants: %s has no place for the table", document)
	}
	return before, inside, after, nil
}

// writeTable puts the result of a full run into the document.
func writeTable(root string, rows []row, took time.Duration) error {
	before, _, after, err := cut(root)
	if err != nil {
		return err
	}
	text := before + begins + "\n" + table(rows) + "\n" +
		fmt.Sprintf("%d defects, none survived. The run took %.0f minutes.\n", len(rows), took.Minutes()) + ends + after
	return os.WriteFile(filepath.Join(root, document), []byte(text), 0o644)
}
