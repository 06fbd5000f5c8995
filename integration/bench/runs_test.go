package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rowOfPairs is what dev/measuring.md says of a run of pairs that is kept: the best peer's time over rlock's at 1, 16, 128
// and 1,024 callers; at the first rlock's time over that of one thread; at the last two rlock's time over the server's
// limit, the server's over that with rueidislock, and how much of the time it did not run, in percent, with rlock and at
// the limit; and what the hypervisor took.
func rowOfPairs(r *Report) string {
	row := []string{"idle"}
	if r.Busy > 0 {
		row[0] = "busy"
	}
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		row = append(row, fmt.Sprintf("%.2f", median(r.ratios("pairs", name, ours, at, "µs"))))
	}
	row = append(row, fmt.Sprintf("%.2f", median(r.ratios("pairs", ours, loneName, "1", "µs"))))
	both := func(format string, of func(at string) float64) {
		row = append(row, fmt.Sprintf(format+", "+format, of("128"), of("1024")))
	}
	both("%.2f", func(at string) float64 { return median(r.ratios("pairs", ours, limitName, at, "µs")) })
	both("%.2f", func(at string) float64 { return median(r.ratios("pairs", ours, rueidisP, at, "server µs")) })
	for _, p := range []string{ours, limitName} {
		both("%.0f", func(at string) float64 { idle, _ := r.median("pairs", p, at, "server idle, %"); return idle })
	}
	row = append(row, fmt.Sprintf("%.1f %%", r.Machine.Stolen))
	return "| " + strings.Join(row, " | ") + " |"
}

func TestDocumentHasTheRunsThatAreKept(t *testing.T) {
	page, err := os.ReadFile("../../docs/dev/measuring.md")
	if err != nil {
		t.Fatal(err)
	}
	runs, err := filepath.Glob("runs/pairs-*.json")
	if err != nil || len(runs) < 3 {
		t.Fatalf("%d runs are kept: %v", len(runs), err)
	}
	for _, path := range runs {
		r, err := readReport(path)
		if err != nil {
			t.Fatal(err)
		}
		if row := rowOfPairs(r); !strings.Contains(string(page), row) {
			t.Errorf("%s: no row\n%s", path, row)
		}
	}
}
