package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/internal/tablefile"
)

// tableFile has the table of a full run.
const tableFile = "mutants"

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

// writeTable puts the result of a full run into its file.
func writeTable(rows []row, took time.Duration) error {
	return tablefile.Write(tableFile, table(rows)+"\n"+
		fmt.Sprintf("%d defects, none survived. The run took %.0f minutes.\n", len(rows), took.Minutes()))
}
