package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// text is all that is known of a row.
func (r *rowResult) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v, hold %v\n", r.name, r.cast, r.cast.hold)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  \tprocess\tacquired\tshare\tof slices\twait p50\tp99\tmax\n")
	for _, v := range []struct {
		name string
		*result
	}{{"without", r.off}, {"with", r.on}, {"alone, without", r.alone}} {
		if v.result == nil {
			continue
		}
		v.lines(w, v.name)
	}
	w.Flush()
	for _, q := range []struct {
		what string
		a, b *result
	}{{"with / without", r.on, r.off}, {"without / alone", r.off, r.alone}, {"with / alone", r.on, r.alone}} {
		if rounds := rateRatios(q.a, q.b); rounds != nil {
			fmt.Fprintf(&b, "  total, %s: %.3f ± %.3f, median of %d rounds from %.3f to %.3f\n", q.what, median(rounds),
				uncertainty(rounds), len(rounds), slices.Min(rounds), slices.Max(rounds))
		}
	}
	if r.on != nil {
		for _, q := range r.wanted {
			is := q.of(r)
			if math.IsNaN(is) {
				continue // something it needs was not measured
			}
			verdict := "ok"
			if is < q.least {
				verdict = "MISSED"
			}
			fmt.Fprintf(&b, "  %s: %s is %.3f, wanted %.2f\n", verdict, q.what, is, q.least)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func (r *result) lines(w *tabwriter.Writer, name string) {
	for i, p := range r.slices[0].processes {
		waits := r.waits(func(j int, _ performance) bool { return i == j })
		var n int64
		for _, s := range r.slices {
			n += s.processes[i].count
		}
		shares := r.sharesOf(i)
		fmt.Fprintf(w, "  %s\t%s %d\t%d\t%.1f%%\t%.1f–%.1f\t%s\t%s\t%s\n", name, p.side, i+1, n,
			100*median(shares), 100*slices.Min(shares), 100*slices.Max(shares),
			millis(percentile(waits, 0.5)), millis(percentile(waits, 0.99)), millis(percentile(waits, 1)))
	}
	fmt.Fprintf(w, "  %s\tall\t%.0f/s\t\t\t\t\t\n", name, r.rate())
	var each []string
	for _, kind := range shown {
		each = append(each, fmt.Sprintf("%s %.3f", kind, r.commandEach(kind)))
	}
	w.Flush() // what follows is no column
	fmt.Fprintf(w, "    sent for each acquisition: %.3f; by kind, scripts included: %s\n", r.commandsEach(), strings.Join(each, ", "))
}

func millis(d time.Duration) string {
	ms := d.Seconds() * 1000
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
