package main

import (
	"fmt"
	"slices"
)

// clusterMetrics are compared.
var clusterMetrics = []string{"µs", "client µs", "server µs", "p50 µs"}

// compareClusters gives a row for each comparison that the run has: the median of the rounds' ratios, and their range.
func compareClusters(r *Report) (rows []string) {
	for _, c := range clusterComparisons {
		row, some := c.shows, false
		for _, m := range clusterMetrics {
			at := fmt.Sprint(clusterCallers)
			if m == "p50 µs" {
				at = "2 processes"
			}
			q := r.ratios("cluster", c.of, c.over, at, m)
			if len(q) == 0 {
				row += " | –"
				continue
			}
			some = true
			row += fmt.Sprintf(" | %.2f", median(q))
			if len(q) > 1 {
				row += fmt.Sprintf(" (%.2f–%.2f)", slices.Min(q), slices.Max(q))
			}
		}
		if some {
			rows = append(rows, row)
		}
	}
	return rows
}
