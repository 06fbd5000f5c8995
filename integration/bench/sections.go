package main

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// The page for users, section by section.

func (d *document) head() {
	d.text("# Performance\n")
	d.text("<!-- written by integration/bench with -write, not by hand -->\n")
	d.text("`integration/bench` measured all parties in interleaved rounds, on %s.", d.r.caption())
	if load := d.r.Machine.busy(); load > 0.5 {
		d.text("Other programs used the same cores: the load average was %.1f before it began.", load)
	}
	d.text("So rely on ratios and counts, which carry over to other machines, rather than on times, which do not. A time is the median of the rounds, and")
	d.text("a ratio is the median of the rounds' ratios.\n")
	for _, m := range d.r.Missing {
		d.text("%s is missing: %s.\n", m.Peer, m.Why)
	}
	if len(d.r.Trouble) > 0 {
		d.text("What went wrong in this run: %s.\n", strings.Join(d.r.Trouble, "; "))
	}
	if d.r.Since != "" {
		d.text("%s\n", d.r.Since)
	}
	d.text("redsync, redislock and rueidislock keep a plain string for each lock, so they [do less](../README.md#why-not-another-library) than rlock.")
	d.text("*raw redigo* sends each of rlock's commands in its own round trip. The *%s* is the server's own time for rlock's commands,", limitName)
	d.text("which it gets without a pause. The *%s* sends the same commands one at a time, and does nothing else.", baseline)
	d.text("[dev/tables/performance.md](dev/tables/performance.md) has versions, settings and the other tables.\n")
}

// caption names the machine, the software and the day.
func (r *Report) caption() string {
	m := r.Machine
	return fmt.Sprintf("%d × %s for server and clients together, with Redis %s, %s and Redisson %s, on %s", m.Cores, m.CPU, m.Redis, m.Go,
		javapeer.Newest, r.Began.Format("2006-01-02"))
}

func (d *document) summary() {
	r := d.r
	d.text("## In short\n")
	var best []string
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		best = append(best, fmt.Sprintf("%.2f", quantile.Median(r.ratios("pairs", name, ours, at, "µs"))))
	}
	d.text("- **An uncontended lock and unlock.** With %s callers the quickest other library takes %s times as long as rlock.", strings.Join(r.places("pairs"), ", "), strings.Join(best, ", "))
	if q, ok := r.ratio("pairs", ours, loneName, "1", "µs"); ok {
		d.text("  With one caller rlock takes %.2f times as long as the %s.", q, baseline)
	}
	d.text("%s", elsewhere)
	for _, at := range r.places("handoff") {
		name, _ := r.best("handoff", at, "p50 µs", false)
		p50, _ := r.ratio("handoff", name, ours, at, "p50 µs")
		p99, _ := r.ratio("handoff", name, ours, at, "p99 µs")
		java, _ := r.ratio("handoff", javaP, ours, at, "p50 µs")
		java99, _ := r.ratio("handoff", javaP, ours, at, "p99 µs")
		if math.IsNaN(p99) {
			d.text("- **A hand-off between %s.** At the median %s takes %.2f times as long as rlock, and Redisson %.1f times.", at, name, p50, java)
			continue
		}
		d.text("- **A hand-off between %s.** At the median %s takes %.2f times as long as rlock, and Redisson %.1f times. At the 99th percentile these", at, name, p50, java)
		d.text("  are %.2f and %.1f times.", p99, java99)
	}
	d.eachCosts("held", "holds", map[string]string{"EVALSHA in 10 s": "scripts in 10 s", "bytes a hold": "bytes a hold"})
	d.text("")
}

// elsewhere is what the pairs of another machine showed, whose run is not published.
const elsewhere = `  On a virtual machine whose idle processors wake slowly it took 1.1 to 1.3 times as long with one caller, 0.75 to 1.05 with 2 to 16, 1.3 with
  32 and 1.8 with 128.`

// eachCosts adds a line for a part's first place: the costs of rlock and of rueidislock, the other one that has them. The metrics
// come with their names on the page.
func (d *document) eachCosts(part, of string, metrics map[string]string) {
	places := d.r.places(part)
	if len(places) == 0 {
		return
	}
	var all []string
	for _, m := range slices.Sorted(maps.Keys(metrics)) {
		mine, ok := d.r.median(part, ours, places[0], m)
		theirs, too := d.r.median(part, rueidisP, places[0], m)
		if ok && too {
			all = append(all, fmt.Sprintf("%s %s with rlock and %s with %s", number(mine), metrics[m], number(theirs), rueidisP))
		}
	}
	d.text("- **%s.** They take %s.", strings.TrimSpace(places[0]+" "+of), strings.Join(all, ", and "))
}

func (d *document) pairs() {
	d.text("## Uncontended pairs\n")
	d.text("A pair is a lock and its unlock, of a name that only this caller uses. The table has µs a pair, for all callers together. More callers take less,")
	d.text("because their commands share writes and reads:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "µs"), loneName)
	d.text("%s\n", d.spread("pairs", "µs"))
	d.text("The processor time of a pair, in µs, beside the party that needs least of it ([all](dev/tables/performance.md#uncontended-pairs)):\n")
	d.text("| callers | rlock's process | the other's | the server for rlock | for the other |\n|---|---:|---:|---:|---:|")
	for _, at := range d.r.places("pairs") {
		cells := []string{at}
		for _, metric := range []string{"client µs", "server µs"} {
			name, _ := d.r.best("pairs", at, metric, false)
			cells = append(cells, d.cell("pairs", ours, at, metric), d.cell("pairs", name, at, metric)+" "+name)
		}
		d.text("| %s |", strings.Join(cells, " | "))
	}
	d.text("")
	if len(d.r.places(networkPart)) == 0 {
		return // an earlier run has none
	}
	d.text("With a network that holds up each command and each reply for %d µs, a pair takes, in µs:\n", networkWay.Microseconds())
	d.table(networkPart, "callers", d.overPlaces(networkPart, "µs"), rawPeer)
}

func (d *document) handoff() {
	d.text("## Hand-off between two processes\n")
	d.text("One process holds the lock, and another one waits for it. The time runs from just before the release to the return of the waiter's call, on")
	d.text("one clock:\n")
	at := d.r.places("handoff")[0]
	d.table("handoff", "", []column{{"p50, µs", at, "p50 µs"}, {"p99, µs", at, "p99 µs"}})
}

func (d *document) contention() {
	d.text("## One lock, many callers\n")
	d.text("All callers want the same lock, and release it as soon as they have it. An acquisition is a hand-off if another caller held the lock before.")
	d.text("A library that polls mostly lets its last holder take the lock again, so it has few hand-offs:\n")
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
	d.text("In these rows a peer was better by more than %.0f%%, at the place that is worst for rlock. In parentheses is the peer's value divided by rlock's, with", 100*even)
	d.text("a ? if the peer was not better in every round:\n")
	d.lagTable(worstPlaces(sortedLags(d.r)))
	d.text("There are three reasons:\n")
	d.text("- Redisson's lock is a hash with a count, and its unlock publishes a message. rlock can't send less, because it would not be compatible then.")
	d.text("- A hold knows its owner, its lease and whether it is lost, which takes more objects than a bare SET.")
	d.text("- A lone caller sleeps until its reply comes, because polling [costs other callers more](dev/measuring.md#who-waits-for-a-reply) than it gains.\n")
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
	d.text("A free lock goes to the first command that reaches the server, and a JVM's comes later than Go's, so that Java's threads could wait for seconds.")
	d.text("Therefore a Go client that had more than its fair share of a busy lock waits 3 to 8 ms after a release before it tries again. At most 1.4%% of the")
	d.text("time is spent waiting for a client that never comes. For example, here each process had 4 callers, who gave up a wait after 2.5 s:\n")
	d.WriteString(tableBegins + table + tableEnds + "\n")
	d.text("If your fleet has no slow client, turn it off by `rlock.WithCourtesy(false)`. [dev/courtesy.md](dev/courtesy.md) has the rules, and measurements of")
	d.text("other fleets.\n")
}

// kept matches the flags that do not change what is measured, and those that make bench sets itself.
var kept = regexp.MustCompile(` -others\b| -json \S+`)

func (d *document) again() {
	d.text("## Measure it yourself\n")
	d.text("This command measures everything again and writes this page:\n")
	flags := kept.ReplaceAllString(strings.TrimPrefix(d.r.Command, "go run ."), "")
	d.text("    make bench FLAGS='%s'\n", strings.TrimSpace(flags))
	d.text("It took %s here. [run.json](performance/run.json) has every round, and [measuring.md](dev/measuring.md#performance) says more.", d.r.Took)
}
