package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rlock-go/redisson/integration/internal/runfile"
)

// document is a page under way.
type document struct {
	strings.Builder
	r *Report
}

// writeDocument makes docs/performance.md and docs/dev/tables/performance.md, the run beside the first and its plots, from a full run,
// and the page of the kinds (kindsPage) from one that has them. One of the kinds alone touches nothing else.
func writeDocument(r *Report) error {
	if err := r.publishable(); err != nil {
		return err
	}
	docs, err := docsDir()
	if err != nil {
		return err
	}
	return writePages(r, docs)
}

func writePages(r *Report, docs string) error {
	if err := writeKinds(r, docs); err != nil || r.onlyKinds() {
		return err
	}
	for _, p := range parts {
		// Earlier runs have no cluster and no neighbour, and the document can be made of one. The kinds have their own.
		if p.name != "cluster" && p.name != "neighbour" && p.name != kindsPart && p.name != toldPart && len(r.places(p.name)) == 0 {
			return fmt.Errorf("part %s was not run: the document is of one whole run", p.name)
		}
	}
	dir := filepath.Join(docs, "performance")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := runfile.Save(filepath.Join(dir, "run.json"), r); err != nil {
		return err
	}
	if err := drawPlots(r, dir); err != nil {
		return err
	}
	before, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"performance.md": r.page(string(before)), filepath.Join("dev", "tables", "performance.md"): r.details()} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page is the one for users. The table of the section on sharing is not of this run: it stays as it was before.
func (r *Report) page(before string) string {
	d := &document{r: r}
	sharing := func() { d.sharing(before) }
	for _, section := range []func(){d.head, d.summary, d.pairs, d.handoff, d.contention, d.behind, sharing, d.again} {
		section()
	}
	return d.String()
}

// details is the page with the rest.
func (r *Report) details() string {
	d := &document{r: r}
	for _, section := range []func(){d.detailsHead, d.pairDetails, d.neighbourDetails, d.handoffDetails, d.contentionDetails, d.heldDetails, d.waitingDetails, d.clusterDetails, d.behindDetails} {
		section()
	}
	return strings.TrimRight(d.String(), "\n") + "\n"
}

// docsDir looks upwards for the folder of documents.
func docsDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		docs := filepath.Join(dir, "docs")
		if _, err := os.Stat(filepath.Join(docs, "performance.md")); err == nil {
			return docs, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no docs/performance.md in %s or above it", start)
		}
	}
}

func (d *document) text(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// table has a row for each peer and a column for each place and metric: what cells lack is left empty, and
// who was missing in the run says so.
func (d *document) table(part, first string, columns []column, without ...string) {
	d.row(first, columns, func(c column) string { return c.title })
	d.row("---", columns, func(column) string { return "---:" })
next:
	for _, p := range d.r.peers(part) {
		for _, w := range without {
			if p == w {
				continue next
			}
		}
		d.row(shown(part, p), columns, func(c column) string {
			m, ok := d.r.median(part, p, c.at, c.metric)
			if !ok {
				return "–"
			}
			return number(m)
		})
	}
	for _, p := range d.r.absent(part, columns[0].at) {
		d.row(p, columns, func(column) string { return "missing" })
	}
	d.text("")
}

type column struct{ title, at, metric string }

func (d *document) row(first string, columns []column, cell func(column) string) {
	d.WriteString("| " + first + " |")
	for _, c := range columns {
		d.WriteString(" " + cell(c) + " |")
	}
	d.WriteString("\n")
}

// overPlaces is one metric at every place of a part.
func (d *document) overPlaces(part, metric string) (all []column) {
	for _, at := range d.r.places(part) {
		all = append(all, column{at, at, metric})
	}
	return all
}

// spread is how far the rounds of a part's metric lay from their median, in the middle and at the worst.
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
	return fmt.Sprintf("The rounds lay ±%.0f%% apart for the middle cell, ±%.0f%% for the worst.", median(all), quantile(all, 1))
}
