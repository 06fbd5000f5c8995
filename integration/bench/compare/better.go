package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// better is a metric in which a party is better than rlock.
type better struct{ fault, party, metric, its, ours, why string }

// Two times count as equal if they differ by less than a fifth, or by less than a busy machine adds.
const (
	alikeShare = 0.8
	alikeMS    = 50
)

// better lists every metric in which another party is better than rlock, including whether two were inside.
func (r *Report) better() (all []better) {
	for _, c := range r.Cells {
		ours := r.of(c.Fault, ours)
		if c == ours || ours == nil || c.Rounds == 0 || ours.Rounds == 0 {
			continue
		}
		note := func(metric, its, own string) {
			all = append(all, better{c.Fault, c.Party, metric, its, own, why(c.Fault, c.Party, metric)})
		}
		if share(c) < share(ours) {
			note("two inside", fmt.Sprintf("%d of %d", c.both(), c.Rounds), fmt.Sprintf("%d of %d", ours.both(), ours.Rounds))
		}
		for _, m := range c.Metrics {
			if own, ok := ours.metric(m.Name); ok && m.beats(own) {
				note(m.Name, m.String(), own.String())
			}
		}
	}
	return all
}

// together merges adjacent rows that differ only in their lock.
func together(rows []better) (merged []better) {
	for _, row := range rows {
		if n := len(merged); n > 0 {
			last := merged[n-1]
			party := last.party + "; " + row.party
			if last.party = row.party; last == row {
				merged[n-1].party = party
				continue
			}
		}
		merged = append(merged, row)
	}
	return merged
}

// of returns the cell of a fault and a party, or nil.
func (r *Report) of(fault, party string) *Cell {
	i := slices.IndexFunc(r.Cells, func(c *Cell) bool { return c.Fault == fault && c.Party == party })
	if i < 0 {
		return nil
	}
	return r.Cells[i]
}

func share(c *Cell) float64 { return float64(c.both()) / float64(c.Rounds) }

// beats reports whether m is better than another party's metric.
func (m Metric) beats(other Metric) bool {
	a, b := quantile.Median(m.Values), quantile.Median(other.Values)
	if m.Unit == "of" {
		a, b = sum(m.Values)/float64(len(m.Values)), sum(other.Values)/float64(len(other.Values))
	}
	switch {
	case m.Better == "":
		return false
	case m.Better == "more":
		a, b = -a, -b
		return a < b && -b < alikeShare*-a
	case m.Unit == "ms":
		return a < alikeShare*b && b-a >= alikeMS
	}
	return a < alikeShare*b
}

// reasons say why others are better, by a prefix of fault/party/metric; the longest matching prefix counts.
var reasons = []struct{ cell, why string }{
	{"key deleted/rueidislock/", "it tracks its keys from the acquire on; rlock begins with holds that are a second old, and this one was younger"},
	{"key deleted, lease of 30 s/rueidislock/", "it tracks its keys from the acquire on, rlock begins with holds that are a second old"},
	{"server restarted empty/rueidislock/", "its connection ends, and it asks for its keys at once"},
	{"server restarted empty/redsync/", "nobody waits for a renewal: it believes its own clock"},
	{"lock forced/rueidislock/", "it tracks its keys from the acquire on; rlock begins with holds that are a second old, and this one was younger"},
	{"key taken by another/rueidislock/", "it tracks its keys from the acquire on; rlock begins with holds that are a second old, and this one was younger"},
	{"subscription cut/", "it polls, so it has no subscription to lose"},
	{"message lost/", "it polls, so it misses no message"},
	{"message lost/rueidislock/", "its waiters try again once its connection is back; rlock's pauses between attempts to subscribe grow to a second"},
	{"waiter's process stopped/red", "all waiters poll: none of them is the one that was woken"},
	{"master killed/rueidislock/unlocks with an error", "its release has no error to give"},
	{"planned failover/rueidislock/unlocks with an error", "its release has no error to give"},
	{"slot moved/rueidislock/unlocks with an error", "its release has no error to give"},
	{"reply to an acquire lost in silence/", "it asks again for as long as its context lasts; rlock returns `ErrUncertain` once a command timeout has passed"},
	{"reply to an acquire late/", "it asks again for as long as its context lasts; rlock returns `ErrUncertain` once a command timeout has passed"},
	{"context ended while the acquire is under way/", "it deletes its key at once; rlock undoes what it sent when the reply comes or a command timeout has passed"},
	{"context ended while the unlock is under way/Redisson", "an interrupt ends the call with an error, and the lock is free when the command arrives; rlock's call goes on until the lock is free"},
	{"acquire lost/", "it sends again at once; rlock first undoes what may have run"},
	{"reply to an unlock lost, connection cut/", "it uses a new connection at once; rlock first asks whom it reached, and has the server end the old one"},
	{"idle connections closed/", "it uses a new connection at once; rlock first asks whom it reached, and has the server end the old one"},
	{"200 callers that give up/", "rlock gives back what was granted too late when the caller has returned"},
	{"server stands still for one and a half leases/", "its lease was not renewed, so it ended first"},
	{"holder killed/", "its waiters poll, so they see the end of the lease a moment sooner"},
	{"holder paused/", "its waiters poll, so they see the end of the lease a moment sooner"},
}

func why(fault, party, metric string) string {
	cell, text := fault+"/"+party+"/"+metric, unexplained
	best := 0
	for _, r := range reasons {
		if strings.HasPrefix(cell, r.cell) && len(r.cell) > best {
			best, text = len(r.cell), r.why
		}
	}
	return text
}

const unexplained = "not explained yet"
