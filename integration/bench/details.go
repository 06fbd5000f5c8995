package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// The page for maintainers, section by section: all tables that the page for users leaves out.

// muchStolen, in percent of the cores' time, affects the tails.
const muchStolen = 1

func (d *document) detailsHead() {
	r, m := d.r, d.r.Machine
	d.text("# Performance, the whole run\n")
	d.text("Written by `make bench FLAGS='-write'`, not by hand.\n")
	d.text("The details of [performance.md](../../performance.md), from the same run. [measuring.md](../measuring.md#performance) says what is")
	d.text("behind the figures.\n")
	d.text("| | |\n|---|---|")
	d.text("| machine | %d × %s; everything, server and clients, shares these cores |", m.Cores, m.CPU)
	d.text("| software | Linux %s, Redis %s on 127.0.0.1 without persistence, %s, %s |", m.Kernel, m.Redis, m.Go, m.Java)
	stolen := ""
	if m.Stolen > 0 {
		stolen = fmt.Sprintf(", stolen by the hypervisor %.1f%% of the cores' time", m.Stolen)
	}
	d.text("| run | %s UTC, took %s, load average before it %s%s |", r.Began.Format("2006-01-02 15:04"), r.Took, m.Load, stolen)
	for _, p := range goPeers() {
		if why, missing := r.without(p.name); missing {
			d.text("| %s | missing: %s |", p.name, strings.ReplaceAll(why, "|", "\\|"))
			continue
		}
		d.text("| %s | %s |", p.name, p.note)
	}
	d.text("| %s | %s |", javaP, javaNote)
	d.text("| %s | the commands of rlock's pairs, encoded beforehand and sent ahead on one connection, the better of %v in flight |", limitName, limitDepths)
	d.text("| %s | the same commands, a round trip each, by a thread that does nothing else and sleeps for each reply |\n", baseline)
	if m.busy() > 0.5 || m.Stolen > muchStolen {
		d.text("Other programs used the machine's cores too. So the ranges are wide, and the tails (p99, worst seconds) say more of the")
		d.text("machine than of any code.\n")
	}
}

func (d *document) pairDetails() {
	r := d.r
	d.text("## Uncontended pairs\n")
	d.text("The clock starts when each caller has had its first pair, but Java's when its threads have started, after four seconds of")
	d.text("warming up. Ratios of times, with the range of the rounds:\n")
	d.text("| callers | %s |", strings.Join(r.places("pairs"), " | "))
	d.text("|---|%s", strings.Repeat("---:|", len(r.places("pairs"))))
	// The range of the rounds is the noise: no ratio is more exact than that.
	ranged := func(a, b, at string) string {
		q := r.ratios("pairs", a, b, at, "µs")
		return fmt.Sprintf("%.2f, rounds %.2f–%.2f", quantile.Median(q), slices.Min(q), slices.Max(q))
	}
	var best, limit []string
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		best = append(best, fmt.Sprintf("%s (%s)", ranged(name, ours, at), name))
		limit = append(limit, ranged(ours, limitName, at))
	}
	d.text("| best peer / rlock | %s |", strings.Join(best, " | "))
	d.text("| rlock / server limit | %s |\n", strings.Join(limit, " | "))
	d.text("At one caller a pair is two round trips for most, so the kernel and the scheduler decide. From 16 on it is how many")
	d.text("commands share a write and a read.\n")
	d.text("Processor time of the server, µs a pair:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "server µs"), loneName)
	d.text("Processor time of the client's process, µs a pair:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "client µs"), limitName, loneName)
	d.text("What a pair takes beside time (Go only):\n")
	var columns []column
	for _, metric := range []string{"commands", "allocations", "bytes"} {
		for _, at := range []string{"1", "128"} {
			columns = append(columns, column{metric + ", " + at + " callers", at, metric})
		}
	}
	d.table("pairs", "", columns, limitName, loneName, javaP)
	d.text("rlock's commands are two EVALSHA. In runs before 2026-11-22 a DEL of the unlock's latch followed; with many callers the DELs of")
	d.text("a batch became one.\n")
	// Which side waited for the other.
	d.text("How much of the time the server did not run, in percent, since it waited for commands or for a core. Near 0 no client can be quicker:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", serverIdle), loneName)
	d.text("The same of the client's process; below 0 it used more than one core:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", clientIdle), loneName)
	if len(r.places(networkPart)) > 0 {
		d.text("Processor time of the client's process with a network of %d µs each way, µs a pair:\n", networkWay.Microseconds())
		d.table(networkPart, "callers", d.overPlaces(networkPart, "client µs"), loneName)
	}
}

func (d *document) neighbourDetails() {
	if len(d.r.places("neighbour")) == 0 {
		return // an earlier run has none
	}
	d.text("## A neighbour of a lone caller\n")
	d.text("A PING each millisecond, by a goroutine that has a connection of its own, alone and while another goroutine of the process")
	d.text("locks and unlocks without a pause; µs:\n")
	var columns []column
	for _, at := range d.r.places("neighbour") {
		for _, metric := range []string{"alone, p50 µs", "alone, p99 µs", "p50 µs", "p99 µs"} {
			columns = append(columns, column{at + ", " + strings.TrimSuffix(metric, " µs"), at, metric})
		}
	}
	d.table("neighbour", "", columns)
}

func (d *document) handoffDetails() {
	d.text("## Hand-off between two processes\n")
	at := d.r.places("handoff")[0]
	d.table("handoff", "", []column{{"p50, µs", at, "p50 µs"}, {"p99, µs", at, "p99 µs"}, {"samples", at, "samples"}})
	d.text("p50 is the median of the rounds' medians, p99 that of all samples together.")
	if _, ok := d.r.median("handoff", limitName, at, "p50 µs"); ok {
		d.text("The %s does what rlock does, its commands encoded beforehand, and sleeps in the kernel until its reply or message", baseline)
		d.text("is there.")
		if limit, measured := d.r.ratio("handoff", ours, limitName, at, "p50 µs"); measured {
			d.text("rlock's median is %.2f of the baseline's.", limit)
		}
	}
	if first, ok := d.r.median("handoff", javaP, at, firstP50); ok {
		n, _ := d.r.median("handoff", javaP, at, "samples")
		d.text("Redisson's row is of JVMs that are warm; their first %s hand-offs had a median of %s µs.", number(n), number(first))
	}
	d.text("")
}

func (d *document) contentionDetails() {
	metrics := []string{"acquisitions/s", "hand-offs/s", "attempts", "commands", "server µs"}
	titles := []string{"acquisitions/s", "hand-offs/s", "attempts an acquisition", "commands an acquisition", "server µs an acquisition"}
	d.text("## One lock, many callers\n")
	d.text("A round trip is the median of 200 PINGs just before.\n")
	for _, part := range []string{"local", "crowd"} {
		for _, at := range d.r.places(part) {
			d.text("%s:\n", contenders(part, at))
			var columns []column
			for i, m := range metrics {
				columns = append(columns, column{titles[i], at, m})
			}
			if part == "local" {
				columns = append(columns, column{"round trips a hand-off", at, "round trips a hand-off"})
			}
			d.table(part, "", columns)
		}
	}
	d.text("%s\n", d.spread("crowd", "acquisitions/s"))
}

func (d *document) heldDetails() {
	d.text("## Held locks\n")
	d.text("One process holds so many locks. It is watched for ten seconds, a third of the watchdog's default of 30 s, in which each of rlock's")
	d.text("holds is renewed once. rueidislock renews each 2.5 s by default. A hold's bytes are those")
	d.text("of the holder's process, its handle included. A third client sends a PING after each 0.5 to 1.5 ms. Its p99 is given for the")
	d.text("ten seconds before anything was held and for those ten, in all and in the worst second: medians of the rounds, and the ratio of a")
	d.text("round. The limit is a process of one thread that sends rlock's scripts, encoded beforehand, at an even pace: what PINGs lose")
	d.text("beside it they lose to the server's work.\n")
	for _, at := range d.r.places("held") {
		d.text("%s holds:\n", at)
		var during, later []column
		for _, m := range []string{"EVALSHA in 10 s", "bytes a hold", "µs a script", "server CPU, %", "holder CPU, %", "PING p99 before, µs", "PING p99 during, µs",
			"PING p99 during / before", "PING p99 worst second before, µs", "PING p99 worst second during, µs"} {
			during = append(during, column{m, at, m})
			if _, ok := d.r.median("held", ours, at, m+renewalsOnly); ok {
				later = append(later, column{m, at, m + renewalsOnly})
			}
		}
		d.present("held", at, during)
		if later != nil { // earlier runs had no second window
			d.text("The same of ten seconds with renewals only, after the first looks:\n")
			d.present("held", at, later)
		}
	}
}

// present adds a table of the peers that have cells at that place.
func (d *document) present(part, at string, columns []column) {
	var absent []string
	for _, p := range d.r.peers(part) {
		if _, ok := d.r.median(part, p, at, columns[0].metric); !ok {
			absent = append(absent, p)
		}
	}
	d.table(part, "", columns, absent...)
}

func (d *document) waitingDetails() {
	d.text("## Waiters\n")
	d.text("One client's goroutines wait for what another holds, until nothing moves any more. Bytes are heap and stack of the waiting")
	d.text("process, goroutine included.\n")
	for _, at := range d.r.places("waiting") {
		d.text("%s:\n", at)
		var columns []column
		for _, m := range []string{"bytes a waiter", "bytes a waiter in the server", "connections", "goroutines beside the waiters", "commands a waiter", "s until all wait"} {
			columns = append(columns, column{m, at, m})
		}
		d.present("waiting", at, columns)
	}
}

func (d *document) clusterDetails() {
	at := fmt.Sprint(clusterCallers)
	d.text("## A cluster\n")
	d.text("Three masters, but for those that say one, and *rlock*, which is on one server. Those with WAIT have a replica for each master,")
	d.text("the others none. *bare* sends rlock's commands, encoded beforehand, as many in flight as there are callers. %s callers, or as", at)
	d.text("many for each master. µs a pair: of the clock, of the client's process, of all masters together, which is what one of them takes")
	d.text("for each pair it serves, and of their replicas. A read of a server has a batch, or a part of it. The hand-off is between two processes.\n")
	var columns []column
	for _, m := range []string{"µs", "client µs", "server µs", "replicas µs", "reads of a server"} {
		columns = append(columns, column{m, at, m})
	}
	columns = append(columns, column{"hand-off, p50 µs", "2 processes", "p50 µs"})
	d.table("cluster", "", columns)
	d.text("Ratios in the same rounds, with the range of the rounds:\n")
	d.text("| | time | client | servers | hand-off |")
	d.text("|---|---:|---:|---:|---:|")
	for _, row := range compareClusters(d.r) {
		d.text("| %s |", row)
	}
	d.text("")
	for _, at := range d.r.places("cluster") {
		if strings.HasSuffix(at, "at one name") {
			d.text("%s, which is held for no time, with %d callers each:\n", at, crowdWaiters)
			var others []string
			for _, p := range d.r.peers("cluster") {
				if d.r.cell("cluster", p, at, "hand-offs/s") == nil {
					others = append(others, p)
				}
			}
			columns := []column{{"hand-offs/s", at, "hand-offs/s"}, {"server µs", at, "server µs"}, {"client µs", at, "client µs"}}
			d.table("cluster", "", columns, others...)
		}
	}
	d.text("What telling the waiters costs, by scripts that are sent ahead on one connection, µs of all masters a pair. Who listens does so")
	d.text("by both kinds of channel, and is written to once for many messages, so that it is the least that a message costs:\n")
	var tellings []column
	for _, at := range d.r.places("cluster scripts") {
		tellings = append(tellings, column{at, at, "server µs"})
	}
	d.table("cluster scripts", "", tellings)
}

func (d *document) behindDetails() {
	d.text("## Where rlock is behind\n")
	d.text("Everything in which a peer was better by more than %.0f%%, worst first. The ratio is peer / rlock, with a ? if not every round said so.\n", 100*even)
	d.lagTable(sortedLags(d.r))
}
