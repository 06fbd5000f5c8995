package main

import (
	"fmt"
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

// writeTable writes the result of a run into its file, in place of the former rows of the same defects.
func writeTable(before string, rows []row, took time.Duration) error {
	now := map[string]string{}
	for _, r := range rows {
		now[r.head()] = r.line()
	}
	all := strings.Builder{}
	all.WriteString(table(nil))
	for _, d := range catalogue() {
		line, tried := now[d.head()]
		if at := strings.Index(before, d.head()); !tried && at >= 0 {
			line, _, _ = strings.Cut(before[at:], "\n")
			line += "\n"
		}
		all.WriteString(line)
	}
	return tablefile.Write(tableFile, all.String()+"\n"+
		fmt.Sprintf("None survived. The last run tried %d of them, in %.0f minutes.\n", len(rows), took.Minutes()))
}
