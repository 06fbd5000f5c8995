package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// The page for users, section by section.

func (d *document) head() {
	d.text("# Performance\n")
	d.text("<!-- written by integration/bench with -write, not by hand -->\n")
	d.text("One run of `integration/bench`, all parties in interleaved rounds. Ratios and counts carry over to other machines; times do not.")
	d.text("A time is the median of the rounds, a ratio the median of the rounds' ratios.")
	d.text("%s.\n", d.r.caption())
	for _, m := range d.r.Missing {
		d.text("%s is missing: %s.\n", m.Peer, m.Why)
	}
	if len(d.r.Trouble) > 0 {
		d.text("What went wrong in this run: %s.\n", strings.Join(d.r.Trouble, "; "))
	}
	if d.r.Since != "" {
		d.text("%s\n", d.r.Since)
	}
	d.text("redsync, redislock and rueidislock keep a plain string for each lock, and [do less](../README.md#why-not-another-library).")
	d.text("*raw redigo* sends each of rlock's commands in its own round trip. The *%s* is the server's time for rlock's commands,", limitName)
	d.text("sent ahead. The *%s* sends them one at a time and does nothing else.", baseline)
	d.text("[dev/tables/performance.md](dev/tables/performance.md) has versions, settings and the other tables.\n")
}

// caption names the machine, the software and the day.
func (r *Report) caption() string {
	m := r.Machine
	return fmt.Sprintf("%d × %s for server and clients, Redis %s, %s, Redisson %s, %s", m.Cores, m.CPU, m.Redis, m.Go,
		javapeer.Newest, r.Began.Format("2006-01-02"))
}

func (d *document) summary() {
	r := d.r
	d.text("## In short\n")
	var best, limit []string
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		best = append(best, fmt.Sprintf("%.2f", quantile.Median(r.ratios("pairs", name, ours, at, "µs"))))
		limit = append(limit, fmt.Sprintf("%.2f", quantile.Median(r.ratios("pairs", ours, limitName, at, "µs"))))
	}
	d.text("- Uncontended pairs, %s callers: the quickest other library takes %s times as long as rlock.", strings.Join(r.places("pairs"), ", "), strings.Join(best, ", "))
	d.text("  rlock takes %s times as long as the server's own time for the commands.", strings.Join(limit, ", "))
	if q, ok := r.ratio("pairs", ours, loneName, "1", "µs"); ok {
		d.text("  With one caller it takes %.2f times as long as the %s.", q, baseline)
	}
	for _, at := range r.places("handoff") {
		name, _ := r.best("handoff", at, "p50 µs", false)
		p50, _ := r.ratio("handoff", name, ours, at, "p50 µs")
		p99, _ := r.ratio("handoff", name, ours, at, "p99 µs")
		java, _ := r.ratio("handoff", javaP, ours, at, "p50 µs")
		java99, _ := r.ratio("handoff", javaP, ours, at, "p99 µs")
		if math.IsNaN(p99) {
			d.text("- Hand-off between %s, p50: %s's time / rlock's is %.2f, Redisson's %.1f.", at, name, p50, java)
			continue
		}
		d.text("- Hand-off between %s, p50 and p99: %s's time / rlock's is %.2f and %.2f, Redisson's %.1f and %.1f.", at, name, p50, p99, java, java99)
	}
	d.eachCosts("held", []string{"EVALSHA in 10 s", "bytes a hold"}, " holds")
	d.eachCosts("waiting", []string{"bytes a waiter", "commands a waiter"}, "")
	d.text("")
}

// eachCosts adds a line for a part's first place: the costs of rlock and of rueidislock, the other one that has them.
func (d *document) eachCosts(part string, metrics []string, of string) {
	places := d.r.places(part)
	if len(places) == 0 {
		return
	}
	var all []string
	for _, m := range metrics {
		mine, ok := d.r.median(part, ours, places[0], m)
		theirs, too := d.r.median(part, rueidisP, places[0], m)
		if ok && too {
			all = append(all, fmt.Sprintf("%s %s, %s's %s", m, number(mine), rueidisP, number(theirs)))
		}
	}
	d.text("- %s%s: rlock's %s.", places[0], of, strings.Join(all, "; "))
}

func (d *document) pairs() {
	d.text("## Uncontended pairs\n")
	d.text("Each caller locks and unlocks a name of its own. µs a pair, for all callers together:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "µs"))
	d.text("%s\n", d.spread("pairs", "µs"))
}

func (d *document) handoff() {
	d.text("## Hand-off between two processes\n")
	d.text("From just before the release to the return of the waiter's call, on one clock:\n")
	at := d.r.places("handoff")[0]
	d.table("handoff", "", []column{{"p50, µs", at, "p50 µs"}, {"p99, µs", at, "p99 µs"}})
}

func (d *document) contention() {
	d.text("## One lock, many callers\n")
	d.text("The lock is held for no time. An acquisition is a hand-off if the holder before was another caller. A peer that polls lets its")
	d.text("last holder take the lock again.\n")
	rows := map[string][]string{}
	head, line := "| hand-offs/s |", "|---|"
	peers := d.r.peers("local")
	for _, part := range []string{"local", "crowd"} {
		for _, at := range d.r.places(part) {
			head, line = head+" "+contenders(part, at)+" |", line+"---:|"
			for _, p := range peers {
				rows[p] = append(rows[p], d.cell(part, p, at, "hand-offs/s"))
			}
		}
	}
	d.text("%s\n%s", head, line)
	for _, p := range peers {
		d.text("| %s | %s |", p, strings.Join(rows[p], " | "))
	}
	d.text("")
}

// contenders says how many callers want the one lock.
func contenders(part, at string) string {
	if part == "crowd" {
		return fmt.Sprintf("%s callers, %d in each client", at, crowdWaiters)
	}
	return at + " callers of one client"
}

// behind lists each contest that another peer wins, at the worst place for rlock.
func (d *document) behind() {
	d.text("## Where rlock is behind\n")
	d.text("Here a peer was better by more than %.0f%%, at the worst place for rlock. The ratio is peer / rlock; ? means not in every round.\n", 100*even)
	d.lagTable(worstPlaces(sortedLags(d.r)))
	d.text("- Redisson's lock is a hash with a count, and its unlock publishes. rlock can't send less and stay compatible.")
	d.text("- A hold knows its owner, lease and loss. That takes more objects than a bare SET.")
	d.text("- A lone caller sleeps until its reply comes. Polling would take a fifth less time on idle cores, up to twice as much")
	d.text("  on busy ones, and [other connections would wait](dev/measuring.md#who-waits-for-a-reply).\n")
}

// The marks around the table that integration/bench/javacourtesy writes into the page.
const (
	tableBegins = "<!-- the tables of go run ./javacourtesy -write: written by it, not by hand -->\n"
	tableEnds   = "<!-- end of the tables -->\n"
)

func (d *document) sharing(before string) {
	_, table, _ := strings.Cut(before, tableBegins)
	table, _, _ = strings.Cut(table, tableEnds)
	d.text("## Sharing a busy lock\n")
	d.text("After an unlock the first command at the server gets the lock. A JVM's command comes later than Go's, so Java's threads would wait")
	d.text("for seconds for a lock that Go wants all the time.\n")
	d.text("So a Go client that had more than its fair share of a busy lock waits 3 to 8 ms after a release before it tries again. At most 1.4%% of the")
	d.text("time is spent waiting for a client that never comes.\n")
	d.text("In another run each process had 4 callers that always wanted the lock, and gave up a wait after 2.5 s:\n")
	d.WriteString(tableBegins + table + tableEnds + "\n")
	d.text("`rlock.WithCourtesy(false)` turns it off, for fleets without a slow client.\n")
	d.text("[dev/courtesy.md](dev/courtesy.md) has the rules, and measurements of other fleets.\n")
}

// kept matches the flags that do not change what is measured, and those that make bench sets itself.
var kept = regexp.MustCompile(` -others\b| -json \S+`)

func (d *document) again() {
	d.text("## Again\n")
	flags := kept.ReplaceAllString(strings.TrimPrefix(d.r.Command, "go run ."), "")
	d.text("    make bench FLAGS='%s'\n", strings.TrimSpace(flags))
	d.text("takes %s here. [run.json](performance/run.json) has every round; [measuring.md](dev/measuring.md#performance) says more.", d.r.Took)
}
