package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/integration/kit/runfile"
)

// document is a page in the making.
type document struct {
	strings.Builder
	r *Report
}

// writeDocument writes docs/performance.md, docs/dev/tables/performance.md and docs/performance/run.json from a full
// run, and the page of the kinds (kindsPage) from a run that has them. A run of the kinds alone writes nothing else.
func writeDocument(r *Report) (err error) {
	defer caught(&err)
	check(r.publishable())
	return writePages(r, filepath.Join(must(codeedit.Root()), "docs"))
}

func writePages(r *Report, docs string) (err error) {
	defer caught(&err)
	if err := writeKinds(r, docs); err != nil || r.onlyKinds() {
		return err
	}
	for _, p := range parts {
		// Earlier runs have no neighbour and no network, and a document can be made from one. The kinds have their own page.
		if p.name != "neighbour" && p.name != networkPart && p.name != kindsPart && len(r.places(p.name)) == 0 {
			return fmt.Errorf("part %s was not run: the document is of one whole run", p.name)
		}
	}
	check(runfile.Save(filepath.Join(docs, "performance", "run.json"), r))
	before := must(os.ReadFile(filepath.Join(docs, "performance.md")))
	for name, text := range map[string]string{"performance.md": r.page(string(before)), filepath.Join("dev", "tables", "performance.md"): r.details()} {
		check(os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644))
	}
	return nil
}

// page returns the page for users. The table of the section on sharing is of another run: it is kept from before.
func (r *Report) page(before string) string {
	d := &document{r: r}
	sharing := func() { d.sharing(before) }
	for _, section := range []func(){d.head, d.summary, d.pairs, d.handoff, d.contention, d.behind, sharing, d.again} {
		section()
	}
	return d.String()
}

// details returns the page with the other tables.
func (r *Report) details() string {
	d := &document{r: r}
	for _, section := range []func(){d.detailsHead, d.pairDetails, d.neighbourDetails, d.handoffDetails, d.contentionDetails, d.heldDetails, d.waitingDetails, d.clusterDetails, d.behindDetails} {
		section()
	}
	return strings.TrimRight(d.String(), "\n") + "\n"
}

func (d *document) text(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// table adds a table with a row for each peer and a column for each place and metric. A missing cell is a dash, and a
// peer that was missing in the run has a row that says so.
func (d *document) table(part, first string, columns []column, without ...string) {
	d.row(first, columns, func(c column) string { return c.title })
	d.row("---", columns, func(column) string { return "---:" })
	for _, p := range d.r.peers(part) {
		if slices.Contains(without, p) {
			continue
		}
		d.row(shown(part, p), columns, func(c column) string { return d.cell(part, p, c.at, c.metric) })
	}
	for _, p := range d.r.absent(part, columns[0].at) {
		d.row(p, columns, func(column) string { return "missing" })
	}
	d.text("")
}

type column struct{ title, at, metric string }

// cell is a median in the form that tables show.
func (d *document) cell(part, peer, at, metric string) string {
	if m, ok := d.r.median(part, peer, at, metric); ok {
		return number(m)
	}
	return "–"
}

func (d *document) row(first string, columns []column, cell func(column) string) {
	d.WriteString("| " + first + " |")
	for _, c := range columns {
		d.WriteString(" " + cell(c) + " |")
	}
	d.WriteString("\n")
}

// overPlaces returns a column of one metric for every place of a part.
func (d *document) overPlaces(part, metric string) (all []column) {
	for _, at := range d.r.places(part) {
		all = append(all, column{at, at, metric})
	}
	return all
}

// spread says how far the rounds of a part's metric lie apart: for the middle cell and for the worst.
func (d *document) spread(part, metric string) string {
	var all []float64
	for _, c := range d.r.Cells {
		if c.Part == part && c.Metric == metric && len(c.Rounds) > 1 {
			all = append(all, c.spread()*100)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("The rounds lay ±%.0f%% apart for the middle cell, ±%.0f%% for the worst.", quantile.Median(all), quantile.Of(all, 1))
}
