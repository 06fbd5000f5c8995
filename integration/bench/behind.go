package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// contest is a metric in which peers can be compared.
type contest struct {
	part, metric string
	highest      bool // true if higher is better
	of           string
}

var contests = []contest{
	{"pairs", "µs", false, "time of an uncontended pair"},
	{"pairs", "server µs", false, "the server's processor time a pair"},
	{"pairs", "client µs", false, "the client's processor time a pair"},
	{"pairs", "allocations", false, "allocations a pair"},
	{"pairs", "bytes", false, "allocated bytes a pair"},
	{"pairs", "commands", false, "commands a pair"},
	{networkPart, "µs", false, "time of an uncontended pair, behind a network"},
	{"handoff", "p50 µs", false, "median of a hand-off between processes"},
	{"handoff", "p99 µs", false, "p99 of a hand-off between processes"},
	{"local", "acquisitions/s", true, "acquisitions a second of one client's callers"},
	{"local", "hand-offs/s", true, "hand-offs a second among one client's callers"},
	{"local", "attempts", false, "attempts an acquisition of one client's callers"},
	{"local", "commands", false, "commands an acquisition of one client's callers"},
	{"crowd", "acquisitions/s", true, "acquisitions a second, many callers of one lock"},
	{"crowd", "hand-offs/s", true, "hand-offs a second, many callers of one lock"},
	{"crowd", "attempts", false, "attempts an acquisition, many callers of one lock"},
	{"crowd", "commands", false, "commands an acquisition, many callers of one lock"},
	{"crowd", "server µs", false, "the server's processor time an acquisition, many callers of one lock"},
	{"held", "EVALSHA in 10 s", false, "renewals"},
	{"held", "bytes a hold", false, "memory of a hold"},
	{"waiting", "bytes a waiter", false, "memory of a waiter"},
	{"waiting", "bytes a waiter in the server", false, "the server's memory for a waiter"},
	{"waiting", "connections", false, "connections of waiters"},
	{"waiting", "goroutines beside the waiters", false, "goroutines besides those of the waiting callers"},
	{"waiting", "commands a waiter", false, "commands a waiter"},
	{"waiting", "s until all wait", false, "time until all wait"},
}

// even is how far from 1 a ratio must be to count as a difference: two runs of the same code differ by as much.
const even = 0.05

// lag is a contest at one place that others win.
type lag struct {
	contest
	at     string
	own    float64
	better []rival
}

type rival struct {
	peer         string
	value, ratio float64 // ratio is theirs / ours
	doubtful     bool    // not better in each round
}

// lags returns all lags of a run.
func lags(r *Report) (all []lag) {
	for _, c := range contests {
		for _, at := range r.places(c.part) {
			own, ok := r.median(c.part, ours, at, c.metric)
			if !ok {
				continue
			}
			l := lag{contest: c, at: at, own: own}
			for _, p := range r.peers(c.part) {
				q, ok := r.ratio(c.part, p, ours, at, c.metric)
				if !ok || p == ours || !isPeer(p) || c.highest && q < 1+even || !c.highest && q > 1-even {
					continue
				}
				theirs, _ := r.median(c.part, p, at, c.metric)
				doubtful := slices.ContainsFunc(r.ratios(c.part, p, ours, at, c.metric), func(q float64) bool { return (q > 1) != c.highest })
				l.better = append(l.better, rival{p, theirs, q, doubtful})
			}
			if l.better != nil {
				all = append(all, l)
			}
		}
	}
	return all
}

// worst is how far the best other peer is ahead, as a ratio above 1.
func (l lag) worst() float64 {
	worst := 1.0
	for _, b := range l.better {
		worst = max(worst, b.ratio, 1/b.ratio)
	}
	return worst
}

// sortedLags returns all lags, the worst first.
func sortedLags(r *Report) []lag {
	all := lags(r)
	slices.SortStableFunc(all, func(a, b lag) int { return cmp.Compare(b.worst(), a.worst()) })
	return all
}

// worstPlaces keeps the worst place of each contest.
func worstPlaces(sorted []lag) (all []lag) {
	for _, l := range sorted {
		if !slices.ContainsFunc(all, func(seen lag) bool { return seen.contest == l.contest }) {
			all = append(all, l)
		}
	}
	return all
}

func (d *document) lagTable(all []lag) {
	d.text("| what | at | rlock | better |\n|---|---|---:|---|")
	for _, l := range all {
		var better []string
		for _, b := range l.better {
			mark := ""
			if b.doubtful {
				mark = "?"
			}
			better = append(better, fmt.Sprintf("%s %s (%.2f%s)", b.peer, number(b.value), b.ratio, mark))
		}
		d.text("| %s | %s | %s | %s |", l.of, l.at, number(l.own), strings.Join(better, ", "))
	}
	d.text("")
}
