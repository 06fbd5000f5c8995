package main

import (
	"fmt"
	"slices"
	"strings"
)

// muchStolen of the cores' time, in percent, shows in the tails.
const muchStolen = 1

func (d *document) head() {
	r, m := d.r, d.r.Machine
	d.text("# Performance\n")
	d.text("<!-- written by integration/bench with -write, not by hand -->\n")
	d.text("One run of `integration/bench` on one machine, all parties beside each other in interleaved rounds. What carries over")
	d.text("to other machines are the ratios, and still more the counts of commands and allocations; the times do not.\n")
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
	d.text("| %s | the commands of rlock's pairs, encoded beforehand and sent ahead on one connection, the better of %v in flight |\n", limitName, limitDepths)
	if len(r.Trouble) > 0 {
		d.text("What went wrong in this run: %s.\n", strings.Join(r.Trouble, "; "))
	}
	var load float64
	if _, err := fmt.Sscan(m.Load, &load); err == nil && load > 0.5 || m.Stolen > muchStolen {
		d.text("Others had a part of the machine's cores too: hence the wide ranges, and tails (p99, worst seconds) that say more of the")
		d.text("machine than of anybody's code.\n")
	}
	d.text("The locks are not the same thing. redsync, redislock and rueidislock keep a plain string for each lock, know neither")
	d.text("re-entry nor hold counts, and none of them finds out what a lost reply did. redsync and redislock don't renew.\n")
}

func (d *document) summary() {
	r := d.r
	d.text("## In short\n")
	d.text("| uncontended pairs, callers | %s |", strings.Join(r.places("pairs"), " | "))
	d.text("|---|%s", strings.Repeat("---:|", len(r.places("pairs"))))
	// The range of the rounds is the noise: a ratio is worth no more than that.
	ranged := func(a, b, at string) string {
		q := r.ratios("pairs", a, b, at, "µs")
		return fmt.Sprintf("%.2f, rounds %.2f–%.2f", median(q), slices.Min(q), slices.Max(q))
	}
	var best, limit []string
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		best = append(best, fmt.Sprintf("%s (%s)", ranged(name, ours, at), name))
		limit = append(limit, ranged(ours, limitName, at))
	}
	d.text("| best peer's time / rlock's (above 1: rlock is quicker) | %s |", strings.Join(best, " | "))
	d.text("| rlock's time / server limit (1 is all there is) | %s |\n", strings.Join(limit, " | "))
	for _, at := range r.places("handoff") {
		name, _ := r.best("handoff", at, "p50 µs", false)
		p50, _ := r.ratio("handoff", name, ours, at, "p50 µs")
		p99, _ := r.ratio("handoff", name, ours, at, "p99 µs")
		java, _ := r.ratio("handoff", javaP, ours, at, "p50 µs")
		java99, _ := r.ratio("handoff", javaP, ours, at, "p99 µs")
		limit, measured := r.ratio("handoff", ours, limitName, at, "p50 µs")
		d.text("Hand-off between %s: best peer's time (%s) / rlock's is %.2f at the median and %.2f at p99; Redisson's %.1f and %.1f.", at, name, p50, p99, java, java99)
		if measured {
			d.text("rlock's median is %.2f of the limit's.", limit)
		}
		d.text("")
	}
}

func (d *document) pairs() {
	d.text("## Uncontended pairs\n")
	d.text("Each caller locks and unlocks a name of its own. µs a pair, for all callers together; the clock starts when each has had its")
	d.text("first pair, but Java's when its threads have started, after four seconds of warming up:\n")
	d.text("![µs a pair against callers](performance/pairs.svg)\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "µs"))
	d.text("%s\nAt one caller a pair is two round trips for most, so the kernel and the scheduler decide; from 16 on it is how many", d.spread("pairs", "µs"))
	d.text("commands share a write and a read.\n")
	d.text("Processor time of the server, µs a pair:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "server µs"))
	d.text("Processor time of the client's process, µs a pair:\n")
	d.table("pairs", "callers", d.overPlaces("pairs", "client µs"), limitName)
	d.text("What a pair takes beside time (Go only):\n")
	var columns []column
	for _, metric := range []string{"commands", "allocations", "bytes"} {
		for _, at := range []string{"1", "128"} {
			columns = append(columns, column{metric + ", " + at + " callers", at, metric})
		}
	}
	d.table("pairs", "", columns, limitName, javaP)
	d.text("rlock's commands are EVALSHA, EVALSHA and a DEL of the unlock's latch; with company the DELs of a batch become one.\n")
}

func (d *document) handoff() {
	d.text("## Hand-off between two processes\n")
	d.text("One process holds, another has waited for some milliseconds; from just before the release to the return of the waiter's")
	d.text("call, on one clock.\n")
	d.text("![hand-off, p50 to p99](performance/handoff.svg)\n")
	at := d.r.places("handoff")[0]
	d.table("handoff", "", []column{{"p50, µs", at, "p50 µs"}, {"p99, µs", at, "p99 µs"}, {"samples", at, "samples"}})
	d.text("p50 is the median of the rounds' medians, p99 that of all samples together.")
	if _, ok := d.r.median("handoff", limitName, at, "p50 µs"); ok {
		d.text("The limit is a process of one thread that does what rlock does, its commands encoded beforehand, and sleeps in the kernel")
		d.text("until its reply or message is there.")
	}
	if first, ok := d.r.median("handoff", javaP, at, firstP50); ok {
		n, _ := d.r.median("handoff", javaP, at, "samples")
		d.text("Redisson's row is of JVMs that are warm; their first %s hand-offs had a median of %s µs.", number(n), number(first))
	}
	d.text("")
}

func (d *document) contention() {
	metrics := []string{"acquisitions/s", "hand-offs/s", "attempts", "commands", "server µs"}
	titles := []string{"acquisitions/s", "hand-offs/s", "attempts an acquisition", "commands an acquisition", "server µs an acquisition"}
	tables := func(part, what string) {
		for _, at := range d.r.places(part) {
			d.text(what+"\n", at)
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
	d.text("## One lock, many callers\n")
	d.text("The lock is held for no time at all. An acquisition is a hand-off if the holder before was another caller: a peer that polls")
	d.text("lets whoever has just released take the lock again, time after time, while the rest sleeps. That makes many acquisitions")
	d.text("and serves few. rlock's callers queue, so nearly each acquisition is a hand-off.\n")
	d.text("![acquisitions and hand-offs](performance/contention.svg)\n")
	tables("local", "%s callers of one client. A round trip is the median of 200 PINGs just before:")
	tables("crowd", fmt.Sprintf("A crowd of %%s callers in 16 clients, %d each:", crowdWaiters))
	d.text("In a crowd each message wakes one waiter of every client, and all but one come in vain: that is the protocol, and so it is")
	d.text("with Redisson. How many arrive in vain depends on how many have subscribed and how quick they are. Here rlock's clients see")
	d.text("that they are too many and too quick: those who wait leave the channel for 25 ms at a time, and try by the clock. Too quick was")
	d.text("a release within 0.3 ms of the last in runs up to that of 2026-11-20 23:48, and is 0.6 ms since: on a slow server the tries of such")
	d.text("a crowd kept its releases further apart. Another machine, slow at that time, made 6,027, 2,573 and 4,001 hand-offs/s with 0.3 ms,")
	d.text("at 2.09, 4.81 and 1.87 attempts, and in turns with these 7,624, 6,693 and 7,140 with 0.6 ms, at 1.77, 1.75 and 1.70. Since")
	d.text("2026-11-22 a message no longer puts a try off that is due, and the pauses are up to 48 releases long in the place of 16, so that")
	d.text("a client on a busy machine gets its turns too. That machine, busy with other work besides, made 2,969, 4,656, 2,191, 1,488 and")
	d.text("1,548 hand-offs/s before, and 5,426, 2,042, 2,318, 1,240 and 1,011 since, in turns: too far apart to tell a difference.\n")
	d.text("%s\n", d.spread("crowd", "acquisitions/s"))
}

func (d *document) held() {
	d.text("## Held locks\n")
	d.text("One process holds so many locks; watched for ten seconds, a third of the watchdog's default of 30 s, in which each of rlock's")
	d.text("holds is renewed once. rueidislock renews each 2.5 s by default. A hold's bytes are those of the holder's process, its handle included. A third client")
	d.text("sends a PING after each 0.5 to 1.5 ms: its p99 in the ten seconds before anything was held and in those ten, in all and in the worst second,")
	d.text("medians of the rounds, the ratio that of a round. The limit is a process of one thread that sends rlock's scripts,")
	d.text("encoded beforehand, at an even pace: what PINGs lose beside it they lose to the server's work.\n")
	for _, at := range d.r.places("held") {
		d.text("%s holds:\n", at)
		var columns []column
		for _, m := range []string{"EVALSHA in 10 s", "bytes a hold", "µs a script", "server CPU, %", "holder CPU, %", "PING p99 before, µs", "PING p99 during, µs",
			"PING p99 during / before", "PING p99 worst second before, µs", "PING p99 worst second during, µs"} {
			columns = append(columns, column{m, at, m})
		}
		d.present("held", at, columns)
	}
}

// present is a table of the peers that have cells at that place.
func (d *document) present(part, at string, columns []column) {
	var absent []string
	for _, p := range d.r.peers(part) {
		if _, ok := d.r.median(part, p, at, columns[0].metric); !ok {
			absent = append(absent, p)
		}
	}
	d.table(part, "", columns, absent...)
}

func (d *document) waiting() {
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

func (d *document) behind() {
	d.text("## Where rlock is behind\n")
	d.text("Everything in which a peer was better by more than %.0f%% in this run, worst first; a ratio is peer / rlock, with a ? if not every round said so.\n", 100*even)
	d.text("| what | at | rlock | better |\n|---|---|---:|---|")
	type line struct {
		text  string
		worst float64
	}
	var lines []line
	for _, l := range lags(d.r) {
		var better []string
		worst := 1.0
		for _, b := range l.better {
			mark := ""
			if b.doubtful {
				mark = "?"
			}
			better = append(better, fmt.Sprintf("%s %s (%.2f%s)", b.peer, number(b.value), b.ratio, mark))
			worst = max(worst, b.ratio, 1/b.ratio)
		}
		lines = append(lines, line{fmt.Sprintf("| %s | %s | %s | %s |", l.of, l.at, number(l.own), strings.Join(better, ", ")), worst})
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.worst > b.worst {
			return -1
		}
		return 1
	})
	for _, l := range lines {
		d.text("%s", l.text)
	}
	d.text("")
	d.text("What is behind it, as far as these numbers tell:\n")
	d.text("- Scripts. Redisson's lock is a hash with a count, and its unlock publishes and keeps a latch, so that a repeated unlock")
	d.text("  counts once; a SET NX and a GET with DEL are less work for the server. rlock can't send less and stay compatible.")
	d.text("- Many callers. The server's core is the bound there, and its part of a pair is larger than with a plain key, so the ratio to a")
	d.text("  peer can't be above that peer's time over the server's limit. What is left to that limit is a little more of the server's")
	d.text("  time, see its table, and that it waits for the client, whose two threads share the two cores with it. Batches of 16 to 256")
	d.text("  requests, 1 to 16 of them in flight, writes of 8 to 64 KiB and no garbage collection at all were tried against each other;")
	d.text("  from here on they differ by less than the rounds do.")
	d.text("- The client's processor time, one lone caller. Instead of sleeping until the reply comes, the reader asks for it; that is less")
	d.text("  than sleeping took, and the pair is about two fifths shorter, but all of the pair is processor time now. The reply is read by one")
	d.text("  goroutine and waited for by another, and the latch's DEL follows.")
	d.text("- One lone caller where waking is dear. On another machine, two virtual cores of a Xeon at 2.5 GHz with busy neighbours, redislock's")
	d.text("  time over rlock's was 0.79 to 1.04 in six runs of this part. There, in turns of 40 ms in one process, seven runs of 20 or 25")
	d.text("  rounds: a thread that does nothing but send the same commands, encoded beforehand, took 0.78 to 0.87 of rlock's time if it asked")
	d.text("  for its replies without a pause and 0.94 to 1.03 if it slept until they came; redislock took 0.97 to 1.04. So the limit there is")
	d.text("  about 0.84 of rlock's time: what asking gains over sleeping is what the scripts cost the server more than a plain key.")
	d.text("- Hand-off. Processes that sleep are woken one after the other, on cores that were idle: the server by the unlock, the waiter by")
	d.text("  the message, the server by the waiter's acquire, the waiter by its reply. A process of one thread that does nothing else, with")
	d.text("  commands encoded beforehand, is the limit: a client that leaves the processor alone while it waits can't be much below it, and")
	d.text("  so Redisson's time over rlock's can't be much above Redisson's over the limit's. In three runs on another machine, whose cores")
	d.text("  had half the speed, rlock's median was 1.13 to 1.17 of the limit's, and Redisson's 2.7 to 2.8 of it. In a trace of")
	d.text("  the scheduler there, which itself costs some tenths, the parts of the limit's median of 436 µs had medians of 31 until the")
	d.text("  unlock was sent, 81 until the server had read it, 128 until it had written its reply and the message, 60 until the waiter had")
	d.text("  read that, 31 until the server had read the acquire, 33 until it had replied, 31 until that was read and 20 until the call had")
	d.text("  returned. rlock's 472 were longer where its own code runs, once in ten milliseconds and so out of cold caches: by 29 before")
	d.text("  the unlock, 26 before the acquire and 12 at the end. A reader that asks for the reply in the place of sleeping, and reads")
	d.text("  without deadlines, changed nothing that could be told from noise.")
	d.text("- PINGs beside renewals. A script that renews a hundred locks keeps everybody else waiting, and a hundred thousand holds need a")
	d.text("  hundred of them each second: with what the server does before and after each, more than a hundredth of the time, see its CPU, so")
	d.text("  p99 is that of a PING that met one. The limit's row has nothing but the scripts; what rlock adds is its process on the same two")
	d.text("  cores, which wakes up when the server replies, mostly on the server's core. Of 74 PINGs that took longer than 0.15 ms in a trace")
	d.text("  of the scheduler, 54 met a script, in 15 the server waited for a core, and 5 were neither. Fewer locks a script would be shorter")
	d.text("  waits, but more of them, and Redisson's number is a hundred.")
	d.text("- Memory of a pair. A hold knows its owner, its lease and its loss, and so has objects that a bare SET has not.")
	d.text("- Acquisitions under contention. A peer that is ahead there is so mostly because callers take back what they have just")
	d.text("  released: compare the hand-offs. Where a peer is ahead in those too, rlock is slower.\n")
}

func (d *document) again() {
	d.text("## Again\n")
	d.text("    make bench FLAGS='%s'\n", strings.TrimPrefix(strings.TrimPrefix(d.r.Command, "go run . "), "-others "))
	d.text("takes %s here and needs a redis-server in PATH, Java 17 and Maven (`-java=false` does without the last two). `-quick` looks in", d.r.Took)
	d.text("less than a minute, `-parts` and `-peers` choose. Every round of this run is in [performance/run.json](performance/run.json).\n")
	d.text("It fetches the modules of redsync, redislock and rueidislock first. A peer whose modules can't be had is left out, and the tables")
	d.text("name it as missing; those of redislock, whose figures above were measured, could not be had for a time in November 2026.\n")
	d.text("What must not get worse unnoticed, the allocations of the inner loops, is in internal/allocs/table.txt and checked by a test.")
}
