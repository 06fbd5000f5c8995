package waitqueue

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// row is a mix of clients and the bounds of its result; 0 is no bound.
type row struct {
	name string
	mix
	alone    *mix    // total without courtesy to compare with; nil: this mix's
	total    float64 // least total, in percent of that
	quick    float64 // least share of each quick client, in percent
	slow     float64
	starves  float64       // greatest share of the slow clients without courtesy, in percent
	p50, p99 time.Duration // greatest wait of a quick client
	slowP50  time.Duration
}

func rows() []row {
	busy := work{workers: 4, hold: ms}
	long := work{workers: 4, hold: 10 * ms}
	short := work{workers: 4, hold: 300 * us}
	lone := work{workers: 1, hold: ms}
	rare := work{workers: 1, hold: ms, think: 50 * ms}
	slower := func(s *simulation) func() time.Duration { return tailed(s, 9*ms, ms) }
	late := func(s *simulation) func() time.Duration { return tailed(s, 2500*us, ms) }
	alone := mix{quick: 2, quickly: busy}
	return []row{
		{name: "1 quick", mix: mix{quick: 1, quickly: busy}, total: 99},
		{name: "2 quick", mix: alone, total: 95, quick: 40},
		{name: "4 quick", mix: mix{quick: 4, quickly: busy}, total: 92, quick: 20},
		{name: "1 quick of 1 worker", mix: mix{quick: 1, quickly: lone}, total: 99},
		{name: "2 quick, 10 ms", mix: mix{quick: 2, quickly: long}, total: 95, quick: 40},

		{name: "2 quick, 1 slow", mix: mix{quick: 2, slow: 1, quickly: busy, slowly: busy},
			alone: &alone, total: 80, quick: 15, slow: 15, starves: 3, slowP50: 60 * ms},
		{name: "2 quick, 1 slow, rows of 16", mix: mix{quick: 2, slow: 1, quickly: busy, slowly: busy, inARow: 16},
			alone: &alone, total: 80, quick: 15, slow: 15, starves: 5},
		{name: "2 quick, 1 slow one by one", mix: mix{quick: 2, slow: 1, quickly: busy, slowly: busy, oneByOne: true},
			alone: &alone, total: 79, quick: 15, slow: 15, starves: 2},
		{name: "1 quick, 1 slow one by one", mix: mix{quick: 1, slow: 1, quickly: busy, slowly: busy, oneByOne: true},
			alone: &alone, total: 60, quick: 25, slow: 25, starves: 2},
		{name: "4 quick, 1 slow one by one", mix: mix{quick: 4, slow: 1, quickly: busy, slowly: busy, oneByOne: true},
			alone: &alone, total: 80, quick: 10, slow: 8, starves: 2},
		{name: "1 quick, 1 slow", mix: mix{quick: 1, slow: 1, quickly: busy, slowly: busy},
			alone: &alone, total: 72, quick: 25, slow: 25, starves: 3},
		{name: "1 quick, 2 slow", mix: mix{quick: 1, slow: 2, quickly: busy, slowly: busy},
			alone: &alone, total: 65, quick: 25, slow: 20, starves: 3},
		{name: "2 quick, 2 slow", mix: mix{quick: 2, slow: 2, quickly: busy, slowly: busy},
			alone: &alone, total: 72, quick: 15, slow: 15, starves: 3},
		{name: "4 quick, 1 slow", mix: mix{quick: 4, slow: 1, quickly: busy, slowly: busy},
			alone: &alone, total: 80, quick: 10, slow: 8, starves: 3},
		{name: "2 quick, 1 slow, 10 ms", mix: mix{quick: 2, slow: 1, quickly: long, slowly: long},
			total: 88, quick: 15, slow: 13, starves: 1},
		{name: "2 quick, 1 slow, 0.3 ms", mix: mix{quick: 2, slow: 1, quickly: short, slowly: short},
			total: 60, quick: 15, slow: 15, starves: 3},
		{name: "2 quick, 1 slower than patience", mix: mix{quick: 2, slow: 1, quickly: busy, slowly: busy, wakes: slower},
			alone: &alone, total: 75, quick: 15, slow: 8, starves: 3},
		{name: "2 quick, 1 slow of 1 thread", mix: mix{quick: 2, slow: 1, quickly: busy, slowly: lone},
			alone: &alone, total: 75, quick: 15, slow: 10, starves: 3},
		{name: "1 quick, 1 slow of 1 thread", mix: mix{quick: 1, slow: 1, quickly: busy, slowly: lone},
			alone: &alone, total: 60, quick: 25, slow: 12, starves: 3},
		{name: "1 quick, 1 late of 1 thread", mix: mix{quick: 1, slow: 1, quickly: busy, slowly: lone, wakes: late},
			quick: 25, slow: 12, starves: 3},
		{name: "1 quick of 1 worker, 1 slow", mix: mix{quick: 1, slow: 1, quickly: lone, slowly: busy},
			total: 80, quick: 25, slow: 30},
		{name: "1 quick, 1 slower of 1 thread", mix: mix{quick: 1, slow: 1, quickly: busy, slowly: lone, wakes: slower},
			alone: &alone, total: 65, quick: 25, starves: 3},

		{name: "1 quick, 1 idle", mix: mix{quick: 1, idle: 1, quickly: busy}, total: 97},
		{name: "2 quick, 1 idle", mix: mix{quick: 2, idle: 1, quickly: busy}, total: 90, quick: 10},
		{name: "2 quick, 1 idle, rows of 16", mix: mix{quick: 2, idle: 1, quickly: busy, inARow: 16}, total: 90, quick: 15},
		{name: "1 quick of 1 worker, 1 idle", mix: mix{quick: 1, idle: 1, quickly: lone}, total: 97},

		{name: "1 quick that thinks, 2 slow", mix: mix{quick: 1, slow: 2, quickly: rare, slowly: busy},
			total: 95, p50: 4 * ms, p99: 16 * ms},
	}
}

// TestShares runs every mix with and without courtesy. Without it the slow clients starve, so the
// bounds prove something.
func TestShares(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	rates := map[*mix]float64{} // of the mixes to compare with
	fmt.Fprintln(w, "who\t|without: a second\tquick %\tslow %\t|with: a second\t% of\t\tquick %\tslow %\tquick p50\tp99\tslow p50\tp99\tpatience")
	for _, r := range rows() {
		off, on := r.simulate(false), r.simulate(true)
		base := off.rate
		of := "without"
		if r.alone != nil {
			if rates[r.alone] == 0 {
				rates[r.alone] = r.alone.simulate(false).rate
			}
			of, base = "2 quick", rates[r.alone]
		}
		percent := 100 * on.rate / base
		q := on.quicks[0]
		var slowP50, slowP99 time.Duration
		if len(on.slows) > 0 {
			slowP50, slowP99 = on.slows[0].quantile(.5), on.slows[0].quantile(.99)
		}
		fmt.Fprintf(w, "%s\t|%.0f\t%.1f\t%.1f\t|%.0f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", r.name,
			off.rate, off.shares[ofQuick], off.shares[ofSlow], on.rate, of, percent, on.shares[ofQuick], on.shares[ofSlow],
			millis(q.quantile(.5)), millis(q.quantile(.99)), millis(slowP50), millis(slowP99), millis(q.turn.Patience()))
		t.Run(r.name, func(t *testing.T) {
			atLeast(t, "the total, in percent", percent, r.total)
			atLeast(t, "a quick one's share", on.least(ofQuick), r.quick)
			atLeast(t, "a slow one's share", on.least(ofSlow), r.slow)
			if r.starves > 0 {
				atMost(t, "a slow one's share without courtesy", off.least(ofSlow), r.starves)
			}
			if r.p50 > 0 {
				atMost(t, "p50 of a quick one, in ms", millis(q.quantile(.5)), millis(r.p50))
				atMost(t, "p99 of a quick one, in ms", millis(q.quantile(.99)), millis(r.p99))
			}
			if r.slowP50 > 0 {
				atMost(t, "p50 of a slow one, in ms", millis(slowP50), millis(r.slowP50))
			}
		})
	}
	w.Flush()
	t.Logf("acquisitions a second, shares, waits in ms\n%s", table.String())
}

func millis(d time.Duration) float64 { return float64(d) / float64(ms) }

func atLeast(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want {
		t.Errorf("%s is %.1f, want at least %.1f", what, got, want)
	}
}

func atMost(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got > want {
		t.Errorf("%s is %.1f, want at most %.1f", what, got, want)
	}
}
