package main

import "time"

// A theme gives a family of situations its share of the rounds: it weighs what is drawn, and nothing in it is certain.
type theme struct {
	name   string
	weight int
	shared float64 // how likely one owner is used by more than one client
	child  float64 // how likely one of the clients is another process's
	poor   float64 // how likely an account may not CLIENT KILL
	mute   float64 // how likely it may not PUBLISH instead
	once   bool    // each acquisition has an owner that nobody is shown
	ways   []string
	length [2]time.Duration

	do     weights // of what an actor does next
	leases weights // of what an acquire asks for
	rival  float64 // how likely a rival stays on a lock that it got

	pace    time.Duration // between two faults that come by themselves
	ambient []fault
	events  weights
	aimed   float64 // how likely a call is aimed at with one of targets
	targets map[string][]fault

	late    bool // calls begin when the server is silent already
	inherit bool // holds are handed over, and released by UnlockAs
	stuck   bool // holds with MaxHold are not released
	quiet   bool // faults are refusals alone, so that every loss is a finding
}

// weights are drawn from.
type weights []weight

type weight struct {
	what string
	n    int
}

// What an actor does next.
const (
	enters   = "enter"
	nests    = "nest"
	releases = "release"
	extends  = "extend"
	forces   = "force"
	pauses   = "pause"

	mutely = "release that may announce nothing"
)

// What an acquire asks for.
const (
	watched    = "watchdog"
	shortLease = "short lease"
	midLease   = "lease"
	longLease  = "long lease"
	maxHold    = "MaxHold"
)

func lossesOf(commands ...string) (all []fault) {
	for _, c := range commands {
		for _, how := range []string{lostBefore, lostAfter, lostSilent, lateBytes, lateReply} {
			all = append(all, fault{command: c, how: how, times: 1})
		}
	}
	return all
}

// refusalsOf are refusals without a code yet, each of so many commands.
func refusalsOf(times int, commands ...string) (all []fault) {
	for _, c := range commands {
		all = append(all, fault{command: c, how: refused, times: times})
	}
	return all
}

// forGood is a refusal that is told at once.
func forGood(command string) []fault {
	return []fault{{command: command, how: refused, code: "NOPERM", times: 1}}
}

func join(lists ...[]fault) (all []fault) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

var (
	usual      = weights{{enters, 4}, {nests, 4}, {releases, 6}, {extends, 2}, {pauses, 2}}
	allLeases  = weights{{watched, 4}, {shortLease, 1}, {midLease, 2}, {longLease, 2}, {maxHold, 1}}
	allWays    = []string{byURL, byURL, byPool, bySlow, byTwo}
	background = join(lossesOf(kill, subscribe, latchDEL, hget), refusalsOf(1, kill, subscribe, subscribe, latchDEL, latchDEL, latchDEL, hget))
)

func seconds(a, b float64) [2]time.Duration {
	return [2]time.Duration{time.Duration(a * float64(time.Second)), time.Duration(b * float64(time.Second))}
}

var latched = []theme{
	{name: "everything", weight: 3, shared: 0.5, child: 0.5, poor: 0.25, ways: allWays, length: seconds(1, 3), do: usual, leases: allLeases, rival: 0.2,
		pace: 90 * time.Millisecond, ambient: join(background, lossesOf(acquire, renewal, unlock, unlockOnce), refusalsOf(2, acquire, renewal, unlock, unlockOnce)),
		events: weights{{silence, 3}, {cutAll, 2}, {portClosed, 1}, {flushScripts, 2}, {killed, 3}}, aimed: 0.2,
		targets: map[string][]fault{enters: lossesOf(acquire), nests: lossesOf(acquire, hget), releases: lossesOf(unlock, latchDEL),
			extends: join(lossesOf(renewal), []fault{{command: renewal, how: swallowed, times: 1}, {command: renewal, how: swallowed, times: 1}})}},
	{name: "a lost re-entry of a shared owner", weight: 3, shared: 1, child: 0.5, ways: []string{byURL, byPool}, length: seconds(1, 2), do: usual,
		leases: weights{{watched, 1}}, rival: 0.1, aimed: 0.5,
		pace: 120 * time.Millisecond, ambient: join(lossesOf(hget), refusalsOf(1, hget, hget)),
		targets: map[string][]fault{enters: lossesOf(acquire), nests: lossesOf(acquire, hget), releases: lossesOf(unlock)}},
	{name: "CLIENT KILL refused", weight: 3, poor: 1, ways: []string{byURL, byPool}, length: seconds(2, 3.5),
		do:     weights{{enters, 3}, {nests, 3}, {releases, 3}, {extends, 8}, {pauses, 2}},
		leases: weights{{watched, 2}, {shortLease, 1}, {midLease, 3}, {longLease, 3}}, aimed: 0.5,
		pace: 250 * time.Millisecond, ambient: lossesOf(renewal),
		targets: map[string][]fault{enters: {{command: acquire, how: lateBytes, times: 1}}, nests: {{command: acquire, how: lateBytes, times: 1}},
			releases: {{command: unlock, how: lateBytes, times: 1}}, extends: {{command: renewal, how: lateBytes, times: 1}}}},
	{name: "silence from the start", weight: 3, shared: 0.3, child: 0.2, ways: []string{byURL, byPool, bySlow}, length: seconds(1, 2), do: usual, leases: allLeases, rival: 0.5,
		late: true, pace: 400 * time.Millisecond, events: weights{{silence, 4}, {portClosed, 1}, {cutAll, 1}},
		ambient: []fault{{command: acquire, how: swallowed, times: 1}, {command: unlock, how: swallowed, times: 1}, {command: unlockOnce, how: swallowed, times: 1}, {command: renewal, how: swallowed, times: 1},
			{command: renewal, how: swallowed, times: 1}}, aimed: 0.2,
		targets: map[string][]fault{enters: lossesOf(acquire), nests: lossesOf(acquire), releases: join(lossesOf(unlock), []fault{{command: unlock, how: swallowed, times: 1}}),
			extends: join(lossesOf(renewal), []fault{{command: renewal, how: swallowed, times: 1}, {command: renewal, how: swallowed, times: 1}})}},
	{name: "waits that were told", weight: 5, ways: []string{byURL, byPool, bySlow}, length: seconds(1.5, 3), poor: 0.2,
		do: weights{{enters, 8}, {nests, 2}, {releases, 6}, {pauses, 1}}, leases: weights{{watched, 1}, {midLease, 2}, {longLease, 4}}, rival: 0.8,
		pace: 100 * time.Millisecond, events: weights{{silence, 4}, {portClosed, 3}, {cutAll, 2}, {flushScripts, 1}, {killed, 1}},
		ambient: join(refusalsOf(8, acquire), refusalsOf(1, subscribe, subscribe, subscribe), lossesOf(acquire, subscribe), []fault{{command: acquire, how: swallowed, times: 1}, {command: acquire, how: lostSilent, times: 1}}), aimed: 0.2,
		targets: map[string][]fault{releases: lossesOf(unlock), extends: lossesOf(renewal)}},
	{name: "refusals", weight: 6, ways: []string{byURL, byPool}, poor: 0.3, length: seconds(2, 4), quiet: true,
		do:     weights{{enters, 3}, {nests, 5}, {releases, 5}, {extends, 4}, {pauses, 3}},
		leases: weights{{watched, 4}, {midLease, 2}, {longLease, 3}}, rival: 0.1, aimed: 0.5,
		pace: 500 * time.Millisecond, ambient: join(refusalsOf(0, unlock, unlock, unlockOnce), refusalsOf(3, acquire), refusalsOf(1, renewal)), events: weights{{flushScripts, 1}},
		targets: map[string][]fault{enters: refusalsOf(2, acquire), nests: refusalsOf(2, acquire), releases: refusalsOf(3, unlock), extends: refusalsOf(0, renewal)}},
	{name: "forced unlocks", weight: 3, ways: []string{byURL, byPool}, length: seconds(1.5, 2.5), poor: 0.2,
		do:     weights{{enters, 8}, {nests, 2}, {releases, 5}, {forces, 4}, {pauses, 1}},
		leases: weights{{watched, 2}, {midLease, 3}, {longLease, 3}}, rival: 0.1, aimed: 0.7,
		pace: 400 * time.Millisecond, events: weights{{flushScripts, 1}},
		targets: map[string][]fault{forces: join(refusalsOf(1, force), lossesOf(force)), releases: lossesOf(unlock)}},
	{name: "MaxHold", weight: 3, ways: []string{byURL, byPool}, length: seconds(1, 2), stuck: true,
		do:     weights{{enters, 3}, {nests, 6}, {releases, 6}, {pauses, 2}},
		leases: weights{{watched, 4}, {midLease, 2}, {maxHold, 4}}, aimed: 0.6,
		targets: map[string][]fault{nests: lossesOf(acquire),
			releases: join(refusalsOf(0, unlock), forGood(unlock), forGood(unlock), forGood(unlock), lossesOf(unlock))}},
	{name: "inherited holds", weight: 3, shared: 1, child: 0.3, ways: []string{byURL, byPool}, length: seconds(2, 4), inherit: true,
		leases: weights{{longLease, 1}}, do: usual, pace: 300 * time.Millisecond, events: weights{{silence, 3}, {cutAll, 1}},
		ambient: join(lossesOf(unlock, pttl), refusalsOf(2, unlock, pttl)), aimed: 0.5,
		targets: map[string][]fault{releases: join(lossesOf(unlock, pttl, latchDEL), refusalsOf(2, unlock, pttl))}},
	{name: "pools", weight: 2, shared: 0.3, ways: []string{byLeftover, byLeftover, bySlow, byTwo}, poor: 0.2, length: seconds(1, 2.5), do: usual, leases: allLeases, rival: 0.5,
		pace: 200 * time.Millisecond, events: weights{{cutAll, 3}, {killed, 2}, {flushScripts, 1}}, ambient: join(background, lossesOf(acquire)), aimed: 0.2,
		targets: map[string][]fault{enters: lossesOf(acquire), releases: lossesOf(unlock)}},
	{name: "lost data", weight: 2, shared: 0.2, child: 0.3, ways: allWays, length: seconds(1, 2.5), do: usual, leases: allLeases, rival: 0.2,
		pace: 300 * time.Millisecond, events: weights{{deleted, 3}, {flushed, 3}, {flushScripts, 1}, {killed, 1}}, aimed: 0.1,
		targets: map[string][]fault{enters: lossesOf(acquire), releases: lossesOf(unlock), extends: lossesOf(renewal)}},
}
