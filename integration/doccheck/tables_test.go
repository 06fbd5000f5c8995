package doccheck

import (
	"fmt"
	"regexp"
	"strings"
)

var tableRule = regexp.MustCompile(`^\|(\s*:?-+:?\s*\|)+$`)

// brokenTables lists tables that a viewer would not show as one: without a head, as after a blank line among the rows, or with
// a row of more or fewer cells than the head has.
func (c *checkout) brokenTables() (wrong []string) {
	for _, name := range sorted(c.pages) {
		for _, m := range c.pages[name].prose {
			rows := strings.Split(m.text, "\n")
			if !strings.HasPrefix(rows[0], "|") {
				continue
			}
			if len(rows) < 2 || !tableRule.MatchString(rows[1]) {
				wrong = append(wrong, fmt.Sprintf("%s: rows of a table without its head", where(name, m.line)))
				continue
			}
			for i, row := range rows {
				if strings.HasPrefix(row, "|") && cellsOf(row) != cellsOf(rows[0]) {
					wrong = append(wrong, fmt.Sprintf("%s: a row of %d cells in a table of %d", where(name, m.line+i), cellsOf(row), cellsOf(rows[0])))
				}
			}
		}
	}
	return wrong
}

// cellsOf counts a row's cells.
func cellsOf(row string) int { return strings.Count(row, "|") - strings.Count(row, `\|`) - 1 }
