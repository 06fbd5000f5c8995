package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/integration/kit/runfile"
)

// No peer may be quicker than what the pages call a limit.
func TestNobodyIsAheadOfWhatThePagesCallALimit(t *testing.T) {
	r, err := runfile.Read[Report]("../../docs/performance/run.json")
	if err != nil {
		t.Fatal(err)
	}
	limits := 0
	for part, metric := range map[string]string{"pairs": "µs", "handoff": "p50 µs"} {
		for _, limit := range []string{limitName, loneName} {
			for _, at := range r.places(part) {
				least, ok := r.median(part, limit, at, metric)
				if !ok || !strings.Contains(shown(part, limit), "limit") {
					continue
				}
				limits++
				for _, peer := range r.peers(part) {
					if is, ok := r.median(part, peer, at, metric); ok && is < least {
						t.Errorf("%s at %s: %s needs %.1f µs, the limit %.1f", part, at, peer, is, least)
					}
				}
			}
		}
	}
	if limits == 0 {
		t.Error("the run has no limit")
	}
}

func TestReadmeSaysHowMuchQuickerThePublishedRunWas(t *testing.T) {
	r, err := runfile.Read[Report]("../../docs/performance/run.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	least, most := math.Inf(1), 0.0
	for _, at := range r.places("pairs") {
		if callers, _ := strconv.Atoi(at); callers < 16 {
			continue // there the kernel decides
		}
		name, _ := r.best("pairs", at, "µs", false)
		q := quantile.Median(r.ratios("pairs", name, ours, at, "µs"))
		least, most = min(least, q), max(most, q)
	}
	if want := fmt.Sprintf("[%.1f to %.1f times as long]", least, most); !strings.Contains(string(page), want) {
		t.Errorf("the README does not have %q", want)
	}
}
