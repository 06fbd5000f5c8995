package main

import "strings"

// verdicts are the texts of the grid, the worst first.
var verdicts = []string{"**two inside**", "**stuck**", "error, or not told", "not promised", "kept", "–"}

const (
	twoInside = iota
	stuck
	harmed
	unpromised
	fine
	missing
)

// verdict rates a cell by its worst metric.
func (c *Cell) verdict() int {
	if c == nil || c.Rounds == 0 {
		return missing
	}
	if c.both() > 0 {
		return c.excused(twoInside)
	}
	worst := fine
	for _, m := range c.Metrics {
		for _, v := range m.Values {
			switch {
			case m.Unit == "ms" && m.Better == "less" && v >= never:
				if m.Name == "holder told after" {
					worst = min(worst, harmed)
				} else {
					worst = min(worst, stuck)
				}
			case m.Unit != "ms" && m.Better == "less" && m.Name != "commands an acquisition" && v > 0, m.Unit == "of" && m.Better == "more" && v == 0:
				worst = min(worst, harmed)
			}
		}
	}
	return c.excused(worst)
}

// excused is the verdict of a cell. It is milder if the fault needs what the party's documentation does not promise.
func (c *Cell) excused(v int) int {
	f, p := findFault(c.Fault), findParty(c.Party)
	if v < unpromised && f != nil && p != nil && p.lacks[f.needs] != "" {
		return unpromised
	}
	return v
}

// grid is a table of all verdicts: a row per fault, a column per lock.
func (r *Report) grid() string {
	var b strings.Builder
	b.WriteString("| fault |")
	for _, p := range parties() {
		b.WriteString(" " + p.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(parties())) + "\n")
	for _, f := range faults() {
		b.WriteString("| " + f.name + " |")
		for _, p := range parties() {
			b.WriteString(" " + verdicts[r.of(f.name, p.name).verdict()] + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
