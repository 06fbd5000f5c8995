package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// printTable prints all cells, their ratios to rlock's, and the missing peers.
func printTable(w io.Writer, r *Report) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, took %s; %d × %s, kernel %s, redis %s, %s, load %s\n\n",
		r.Began.Format("2006-01-02 15:04"), r.Took, m.Cores, m.CPU, m.Kernel, m.Redis, m.Go, m.Load)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "part\tat\tpeer\tmetric\tmedian\t± rounds\tpeer / rlock\t")
	for _, c := range r.Cells {
		spread, ratio := "", ""
		if len(c.Rounds) > 1 {
			spread = fmt.Sprintf("%.0f%%", 100*c.spread())
		}
		if c.Metric == serverIdle || c.Metric == clientIdle {
			// They may be about 0, where percentages and ratios mean nothing.
			spread = ""
		} else if q, ok := r.ratio(c.Part, c.Peer, ours, c.At, c.Metric); ok && c.Peer != ours {
			ratio = fmt.Sprintf("%.2f", q)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", c.Part, c.At, c.Peer, c.Metric, number(quantile.Median(c.Rounds)), spread, ratio)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(t, "all\t\t%s\tmissing\t–\t\t\t\n", m.Peer)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if rows := compareClusters(r); len(rows) > 0 {
		fmt.Fprintln(w, "\ncluster, in the same rounds: | time | client | servers | hand-off")
		for _, row := range rows {
			fmt.Fprintln(w, row)
		}
	}
	for _, line := range r.gains() {
		fmt.Fprintf(w, "from 1 to %d callers: %s\n", permits, line)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "!! %s is missing: %s\n", m.Peer, m.Why)
	}
	for _, text := range r.Trouble {
		fmt.Fprintln(w, "!!", text)
	}
	return nil
}

// number formats f with at least three digits, thousands with a comma.
func number(f float64) string {
	switch size := math.Abs(f); {
	case f >= 10_000:
		return fmt.Sprintf("%d,%03d", int(f+0.5)/1000, int(f+0.5)%1000)
	case size >= 100:
		return fmt.Sprintf("%.0f", f)
	case size >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
