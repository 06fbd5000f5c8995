package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/integration/kit/runfile"
)

// onlyKinds reports whether a run has only the kinds. They have their own page; that of the other parts stays.
func (r *Report) onlyKinds() bool {
	return !slices.ContainsFunc(r.Cells, func(c *Cell) bool { return c.Part != kindsPart })
}

// publishable returns the reason why a run must not be published, or nil.
func (r *Report) publishable() error {
	if r.Quick {
		return errors.New("a quick run is too short for the document")
	}
	return nil
}

// writeKinds writes dev/tables/kinds.md and performance/kinds.json below docs, if the run has the kinds.
func writeKinds(r *Report, docs string) error {
	if len(r.places(kindsPart)) == 0 {
		return nil
	}
	only := *r
	only.Cells = slices.DeleteFunc(slices.Clone(r.Cells), func(c *Cell) bool { return c.Part != kindsPart })
	if err := runfile.Save(filepath.Join(docs, "performance", "kinds.json"), only); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "dev", "tables", "kinds.md"), []byte(only.kindsPage()), 0o644)
}

func (r *Report) kindsPage() string {
	d := &document{r: r}
	d.text("# Each kind of lock, beside Redisson\n")
	d.text("Written by `make bench FLAGS='-parts kinds -write'`, not by hand.\n")
	d.text("%s. All callers want one name without a pause and hold it for no time, in interleaved rounds.", r.caption())
	d.text("A pair of *%s* and of *%s* is one permit and its release, of *count-down* one count-down, of *three at once*", permitsTitle, semaphoreTitle)
	d.text("a multi-lock of three plain locks. The last column is the median of the rounds' ratios: above 1 rlock is quicker, or costs less.\n")
	if len(r.Trouble) > 0 {
		d.text("What went wrong in this run: %s.\n", strings.Join(r.Trouble, "; "))
	}
	d.text("## From 1 to %d callers\n", permits)
	for _, line := range r.gains() {
		d.text("- %s", line)
	}
	d.text("\n## All figures\n")
	d.text("| | metric | rlock | %s | %[1]s / rlock |\n|---|---|---:|---:|---:|", javaP)
	for _, c := range r.Cells {
		if c.Peer != ours {
			continue
		}
		ratio := "–"
		if q, ok := r.ratio(kindsPart, javaP, ours, c.At, c.Metric); ok {
			if strings.HasSuffix(c.Metric, "/s") {
				q = 1 / q
			}
			ratio = fmt.Sprintf("%.2f", q)
		}
		d.text("| %s | %s | %s | %s | %s |", c.At, c.Metric, number(quantile.Median(c.Rounds)), d.cell(kindsPart, javaP, c.At, c.Metric), ratio)
	}
	return d.String()
}

// gaining are the mixes whose callers don't exclude each other: more callers should get more done.
var gaining = []string{string(javapeer.Read), permitsTitle, semaphoreTitle, "count-down"}

// gains compares the acquisitions of sixteen callers with those of one, and says whether every round had a gain.
func (r *Report) gains() (lines []string) {
	for _, title := range gaining {
		var sides []string
		for _, p := range r.peers(kindsPart) {
			one, many := r.cell(kindsPart, p, atCallers(title, 1), "acquisitions/s"), r.cell(kindsPart, p, atCallers(title, permits), "acquisitions/s")
			if one == nil || many == nil {
				continue
			}
			said := "a gain"
			if slices.Min(many.Rounds) <= (1+even)*slices.Max(one.Rounds) {
				said = "NO GAIN in every round"
			}
			sides = append(sides, fmt.Sprintf("%s %.2f times as many acquisitions (%s)", p, quantile.Median(many.Rounds)/quantile.Median(one.Rounds), said))
		}
		if len(sides) > 0 {
			lines = append(lines, title+": "+strings.Join(sides, "; "))
		}
	}
	return lines
}
