package main

import (
	"fmt"
	"strings"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// What the page for users says, section by section.

func (d *document) head() {
	d.text("# Performance\n")
	d.text("<!-- written by integration/bench with -write, not by hand -->\n")
	d.text("One run of `integration/bench` on one machine, all parties in interleaved rounds. Ratios, and still more the counts of commands")
	d.text("and allocations, carry over to other machines; times do not. The machine and its software:")
	d.text("%s.\n", d.r.caption())
	for _, m := range d.r.Missing {
		d.text("%s is missing: %s.\n", m.Peer, m.Why)
	}
	if len(d.r.Trouble) > 0 {
		d.text("What went wrong in this run: %s.\n", strings.Join(d.r.Trouble, "; "))
	}
	d.text("The locks are not the same thing. redsync, redislock and rueidislock keep a plain string for each lock, know neither")
	d.text("re-entry nor hold counts, and none of them finds out what a lost reply did. redsync and redislock don't renew. *raw redigo*")
	d.text("sends rlock's commands over a pool, a round trip each. The *server limit* is what the server takes for rlock's commands if")
	d.text("they are sent ahead. [dev/performance.md](dev/performance.md) has versions, settings, processor times and the other tables.\n")
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
	d.text("| uncontended pairs, callers | %s |", strings.Join(r.places("pairs"), " | "))
	d.text("|---|%s", strings.Repeat("---:|", len(r.places("pairs"))))
	var best, limit []string
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		best = append(best, fmt.Sprintf("%.2f (%s)", median(r.ratios("pairs", name, ours, at, "µs")), name))
		limit = append(limit, fmt.Sprintf("%.2f", median(r.ratios("pairs", ours, limitName, at, "µs"))))
	}
	d.text("| best peer's time / rlock's | %s |", strings.Join(best, " | "))
	d.text("| rlock's time / server limit | %s |\n", strings.Join(limit, " | "))
	for _, at := range r.places("handoff") {
		name, _ := r.best("handoff", at, "p50 µs", false)
		p50, _ := r.ratio("handoff", name, ours, at, "p50 µs")
		p99, _ := r.ratio("handoff", name, ours, at, "p99 µs")
		java, _ := r.ratio("handoff", javaP, ours, at, "p50 µs")
		java99, _ := r.ratio("handoff", javaP, ours, at, "p99 µs")
		d.text("Hand-off between %s, median and p99: %s's time / rlock's is %.2f and %.2f, Redisson's %.1f and %.1f.\n", at, name, p50, p99, java, java99)
	}
}

func (d *document) pairs() {
	d.text("## Uncontended pairs\n")
	d.text("Each caller locks and unlocks a name of its own. µs a pair, for all callers together:\n")
	d.text("![µs a pair against callers](performance/pairs.svg)\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "µs"))
	d.text("%s\n", d.spread("pairs", "µs"))
}

func (d *document) handoff() {
	d.text("## Hand-off between two processes\n")
	d.text("One process holds, another has waited for some milliseconds. The time is from just before the release to the return of the")
	d.text("waiter's call, on one clock.\n")
	d.text("![hand-off, p50 and p99](performance/handoff.svg)\n")
	at := d.r.places("handoff")[0]
	d.table("handoff", "", []column{{"p50, µs", at, "p50 µs"}, {"p99, µs", at, "p99 µs"}})
}

func (d *document) contention() {
	d.text("## One lock, many callers\n")
	d.text("The lock is held for no time at all. An acquisition is a hand-off if the holder before was another caller. A peer that polls")
	d.text("lets its last holder take the lock again while the rest sleeps: many acquisitions, few served. rlock's callers queue, so")
	d.text("nearly each acquisition is a hand-off. Hand-offs / acquisitions, each a second:\n")
	d.text("![acquisitions and hand-offs](performance/contention.svg)\n")
	var columns []column
	for _, part := range []string{"local", "crowd"} {
		for _, at := range d.r.places(part) {
			columns = append(columns, column{contenders(part, at), at, part})
		}
	}
	d.row("", columns, func(c column) string { return c.title })
	d.row("---", columns, func(column) string { return "---:" })
	for _, p := range d.r.peers("local") {
		d.row(p, columns, func(c column) string {
			handoffs, ok := d.r.median(c.metric, p, c.at, "hand-offs/s")
			all, too := d.r.median(c.metric, p, c.at, "acquisitions/s")
			if !ok || !too {
				return "–"
			}
			return number(handoffs) + " / " + number(all)
		})
	}
	d.text("")
}

// contenders says who wants the one lock.
func contenders(part, at string) string {
	if part == "crowd" {
		return fmt.Sprintf("%s callers, %d in each client", at, crowdWaiters)
	}
	return at + " callers of one client"
}

func (d *document) held() {
	d.text("## Held locks\n")
	d.text("Scripts in ten seconds, in which each of rlock's holds is renewed once (rueidislock renews each 2.5 s by default), and memory:\n")
	d.each("held", []string{"EVALSHA in 10 s", "bytes a hold"}, " holds")
}

func (d *document) waiting() {
	d.text("## Waiters\n")
	d.text("Goroutines of one client that wait for what another holds:\n")
	d.each("waiting", []string{"bytes a waiter", "commands a waiter"}, "")
}

// each is a table of metrics, each at every place of a part.
func (d *document) each(part string, metrics []string, of string) {
	var columns []column
	for _, m := range metrics {
		for _, at := range d.r.places(part) {
			columns = append(columns, column{m + ", " + at + of, at, m})
		}
	}
	d.table(part, "", columns, limitName)
}

// behind lists each contest that another wins, at the place where rlock is worst.
func (d *document) behind() {
	d.text("## Where rlock is behind\n")
	d.text("Everything in which a peer was better by more than %.0f%%, at its worst place; the ratio is peer / rlock, with a ? if not every", 100*even)
	d.text("round said so.\n")
	d.lagTable(worstPlaces(sortedLags(d.r)))
	d.text("Why:\n")
	d.text("- Redisson's lock is a hash with a count, and its unlock publishes and keeps a latch. Plain keys are less work for the server.")
	d.text("  rlock can't send less and stay compatible.")
	d.text("- A hold knows its owner, its lease and its loss, and so has objects that a bare SET has not.")
	d.text("- The reader polls for a lone caller's reply instead of sleeping. That is quicker, but all of it is processor time. Where waking")
	d.text("  is dear, redislock can be ahead of one lone caller: [measuring.md](dev/measuring.md#one-lone-caller).")
	d.text("- A peer with more acquisitions under contention has them because callers take back what they have just released.\n")
}

func (d *document) again() {
	d.text("## Again\n")
	d.text("    make bench FLAGS='%s'\n", strings.TrimPrefix(strings.TrimPrefix(d.r.Command, "go run . "), "-others "))
	d.text("takes %s here, with redis-server, Java 17 and Maven. [performance/run.json](performance/run.json) has every round.", d.r.Took)
	d.text("[measuring.md](dev/measuring.md#performance) says more.")
}
