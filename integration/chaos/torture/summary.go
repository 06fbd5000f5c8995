package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

func (r *result) summary() string {
	var b strings.Builder
	c := r.Config
	place := c.Sizes.Topology
	if place == "" {
		place = "single server"
	}
	fmt.Fprintf(&b, "%s, %s, seed %d, %v: %d locks, %d Go and %d Java processes of %d workers, watchdog %v, command timeout %v; took %v\n",
		c.Kind.Name, place, c.Seed, c.Sizes.Duration, c.Sizes.Locks, c.Sizes.Go, c.Sizes.Java, c.Workers, c.Watchdog, c.CommandTimeout,
		r.Took.Round(time.Second))
	r.calls(&b)
	r.faults(&b)
	share := 0.0
	if r.Windows > 0 {
		share = 100 * float64(r.Voided) / float64(r.Windows)
	}
	fmt.Fprintf(&b, "\nwindows: %d, of which %d (%.2f %%) set aside\n", r.Windows, r.Voided, share)
	for _, why := range slices.SortedFunc(maps.Keys(r.Why), func(x, y string) int { return cmp.Or(r.Why[y]-r.Why[x], cmp.Compare(x, y)) }) {
		fmt.Fprintf(&b, "  %d by %s\n", r.Why[why], why)
	}
	for _, judged := range []map[string]int{r.Looked, r.Judged} {
		for _, what := range slices.Sorted(maps.Keys(judged)) {
			fmt.Fprintf(&b, "judged: %d %s\n", judged[what], what)
		}
	}
	fmt.Fprintf(&b, "the machine let the run wait for %v\n", r.Stood.Round(time.Millisecond))
	wakeUps(&b, "calm", r.Calm)
	wakeUps(&b, "near faults", r.Troubled)
	fmt.Fprintf(&b, "violations: %d, other failures: %d\n", len(r.Violations)+r.Suppressed, len(r.Failures))
	for _, text := range slices.Concat(r.Violations, r.Failures) {
		fmt.Fprintf(&b, "  %s\n", text)
	}
	if r.Suppressed > 0 {
		fmt.Fprintf(&b, "  … and %d more\n", r.Suppressed)
	}
	return b.String()
}

func (r *result) calls(b *strings.Builder) {
	type call struct {
		side history.Side
		what string
	}
	totals := map[call]int{}
	outcomes := map[call][]history.Tally{}
	for t, n := range r.Tallies {
		k := call{t.Side, t.What}
		totals[k] += n
		outcomes[k] = append(outcomes[k], t)
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, k := range slices.SortedFunc(maps.Keys(totals), func(x, y call) int {
		return cmp.Or(cmp.Compare(x.side, y.side), cmp.Compare(x.what, y.what))
	}) {
		list := outcomes[k]
		slices.SortFunc(list, func(x, y history.Tally) int { return cmp.Compare(r.Tallies[y], r.Tallies[x]) })
		var parts []string
		for _, t := range list {
			parts = append(parts, fmt.Sprintf("%s %d", t.Kind, r.Tallies[t]))
		}
		fmt.Fprintf(w, "  %s\t%s\t%d\t%s\n", k.side, k.what, totals[k], strings.Join(parts, ", "))
	}
	w.Flush()
}

func (r *result) faults(b *strings.Builder) {
	total := 0
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(r.Faults)) {
		total += r.Faults[k]
		parts = append(parts, fmt.Sprintf("%s %d", k, r.Faults[k]))
	}
	fmt.Fprintf(b, "\nfaults: %d: %s\n", total, strings.Join(parts, ", "))
}

// wakeUps prints the times from a release to the entry of a waiter.
func wakeUps(b *strings.Builder, when string, times map[history.Side][]time.Duration) {
	for _, side := range []history.Side{history.Go, history.Java} {
		list := slices.Sorted(slices.Values(times[side]))
		if len(list) == 0 {
			continue
		}
		at := func(share float64) time.Duration {
			return list[int(share*float64(len(list)-1))].Round(10 * time.Microsecond)
		}
		fmt.Fprintf(b, "wake-ups, %s, %s enters: %d, p50 %v, p99 %v, max %v\n", when, side, len(list), at(0.5), at(0.99), at(1))
	}
}
