package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/integration/kit/runfile"
)

// sort puts the cells in the order of the page.
func (r *Report) sort() {
	at := map[string]int{}
	for i, f := range faults() {
		at[f.name] = i
	}
	for i, p := range parties() {
		at["/"+p.name] = i
	}
	slices.SortStableFunc(r.Cells, func(a, b *Cell) int {
		return cmp.Or(cmp.Compare(at[a.Fault], at[b.Fault]), cmp.Compare(at["/"+a.Party], at["/"+b.Party]))
	})
}

// write puts the page and its JSON into docs/dev.
func (r *Report) write(page string) error {
	root, err := codeedit.Root()
	if err != nil {
		return err
	}
	docs := filepath.Join(root, "docs", "dev")
	return errors.Join(
		runfile.Save(filepath.Join(docs, "compare", "run.json"), r),
		os.WriteFile(filepath.Join(docs, "compare.md"), []byte(page), 0o644))
}

// page returns docs/dev/compare.md, none of which is written by hand.
func (r *Report) page() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("# The same faults for every lock\n")
	put("One run on %s tried each fault %d times on each lock: Redis %s, %s, leases of %v if no other is named, %s. `make compare FLAGS=-write` writes this page.\n",
		r.Began.Format("2006-01-02"), r.Rounds, r.Redis, r.Go, short, r.Took)
	if r.Again != "" {
		put("%s\n", r.Again)
	}
	put("*Stuck*: the lock stays taken, or a waiter never enters. *Not promised*: one of the others happened, and the lock's documentation promises nothing else. –: missing, or not tried.\n")
	put("%s", r.grid())
	put("## Where others are better than rlock\n")
	if better := r.better(); len(better) == 0 {
		put("Nowhere in this run.\n")
	} else {
		put("| fault | lock | what | it | rlock | why |\n|---|---|---|---|---|---|")
		said := ""
		for _, b := range together(better) {
			why := b.why
			if why == said {
				why = "the same"
			}
			said = b.why
			put("| %s | %s | %s | %s | %s | %s |", b.fault, b.party, b.metric, b.its, b.ours, why)
		}
		put("")
	}
	put("Leases are short, so that rounds are. A loss is made 50 ms after the acquire, and rlock notices it at its renewal, after a third of %v. Three faults are tried at the default lease of 30s too: there such a young hold is told [within two seconds](../guarantees.md#how-soon-a-loss-is-noticed), an older one at once.\n", short)
	put("## Two inside\n")
	put("A witness knows when each caller began and ended what it did. It reads no key and asks no lock. A holder at work acts each %v, so the witness can't tell a shorter time together from none. To play a cell again, by its name:\n", step)
	put("```sh\ncd integration/bench && go run ./compare -only 'key taken by another/rlock'\n```\n")
	if two := r.those(func(c *Cell) bool { return c.both() > 0 }); len(two) == 0 {
		put("Nowhere in this run.\n")
	} else {
		put("| name of the cell | rounds | longest |\n|---|---|---|")
		for _, c := range two {
			put("| `%s/%s` | %d of %d | %s |", c.Fault, c.Party, c.both(), c.Rounds, duration(slices.Max(c.Together)))
		}
		put("")
	}
	put("## The locks\n")
	put("| lock | version and settings | what its documentation does not promise |\n|---|---|---|")
	for _, p := range parties() {
		var words []string
		for _, of := range []promise{notice, renewal, waiting} {
			if text := p.lacks[of]; text != "" {
				words = append(words, string(of)+": "+text)
			}
		}
		lacks := strings.Join(words, "; ")
		if why := r.Missing[p.name]; why != "" {
			lacks = "**missing**: " + why
		}
		put("| %s | %s | %s |", p.name, p.note, lacks)
	}
	put("\n## All cells\n")
	put("Times are medians, with the worst in brackets. *Not promised* is what a lock's own documentation leaves to the caller; it is not counted against it.\n")
	for _, f := range faults() {
		rows := r.those(func(c *Cell) bool { return c.Fault == f.name })
		if len(rows) == 0 {
			continue
		}
		put("### %s\n", strings.ToUpper(f.name[:1])+f.name[1:])
		put("Made by: %s.\n", f.by)
		promised := func(string) string { return "" }
		if f.needs != "" {
			promised = func(text string) string { return " " + text + " |" }
		}
		heads := columns(rows)
		put("| lock | two inside |%s%s", cellsOf(heads, func(n string) string { return n }), promised("not promised"))
		put("|---|---|%s%s", strings.Repeat("---|", len(heads)), strings.ReplaceAll(promised("---"), " ", ""))
		for _, c := range rows {
			lacks := ""
			if p := findParty(c.Party); p != nil && p.lacks[f.needs] != "" {
				lacks = string(f.needs) + ": " + p.lacks[f.needs]
			}
			put("| %s | %s |%s%s", c.Party, c.two(), cellsOf(heads, c.text), promised(lacks))
		}
		for _, p := range parties() {
			if r.Missing[p.name] != "" {
				put("| %s | missing |%s%s", p.name, strings.Repeat(" |", len(heads)), promised(""))
			}
		}
		put("")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *Report) those(are func(*Cell) bool) []*Cell {
	return slices.DeleteFunc(slices.Clone(r.Cells), func(c *Cell) bool { return !are(c) })
}

// columns are the names of the cells' metrics.
func columns(cells []*Cell) (names []string) {
	for _, c := range cells {
		for _, m := range c.Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

func (c *Cell) two() string {
	switch {
	case c.Untried != "":
		return c.Untried
	case c.Rounds == 0:
		return "could not be played"
	case c.both() == 0:
		return "no"
	}
	return fmt.Sprintf("**%d of %d**, %s (%s)", c.both(), c.Rounds, duration(quantile.Median(c.Together)), duration(slices.Max(c.Together)))
}

// cellsOf are cells of a row, one for each column.
func cellsOf(columns []string, text func(string) string) (row string) {
	for _, c := range columns {
		row += " " + text(c) + " |"
	}
	return row
}

func (c *Cell) text(metric string) string {
	if m, ok := c.metric(metric); ok {
		return m.String()
	}
	return "–"
}

// String is the metric in the form that a cell shows.
func (m Metric) String() string {
	switch m.Unit {
	case "of":
		return fmt.Sprintf("%.0f of %d", sum(m.Values), len(m.Values))
	case "ms":
		mid, worst := duration(quantile.Median(m.Values)), duration(slices.Max(m.Values))
		if mid == worst {
			return mid
		}
		return mid + " (" + worst + ")"
	}
	worst := slices.Max(m.Values)
	if m.Better == "more" {
		worst = slices.Min(m.Values)
	}
	mid, end := number(quantile.Median(m.Values)), number(worst)
	if mid == end {
		return mid
	}
	return mid + " (" + end + ")"
}

func number(f float64) string {
	if f == math.Trunc(f) || f >= 100 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.1f", f)
}

// duration formats a number of milliseconds.
func duration(ms float64) string {
	switch {
	case ms >= never:
		return "never"
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
