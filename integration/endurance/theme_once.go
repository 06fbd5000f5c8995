package main

import (
	"slices"
	"time"
)

// themes are all of them. In a third of the rounds owners are used once, and unlocks have no latch.
var themes = slices.Concat(latched, once)

var (
	shorter     = weights{{watched, 4}, {shortLease, 1}, {midLease, 4}, {longLease, 1}, {maxHold, 1}}
	comeAndGo   = weights{{enters, 4}, {releases, 8}, {extends, 2}, {pauses, 1}}
	onceSwallow = []fault{{command: unlockOnce, how: swallowed, times: 1}}
	asking      = join(lossesOf(hexists), refusalsOf(1, hexists))
)

// once are the themes of owners that are used once.
var once = []theme{
	{name: "owners used once", weight: 8, once: true, child: 0.4, poor: 0.15, mute: 0.45, ways: allWays, length: seconds(1.5, 3), do: comeAndGo, leases: shorter, rival: 0.1,
		pace: 150 * time.Millisecond, ambient: join(lossesOf(kill, subscribe, acquire, renewal, unlockOnce), onceSwallow, refusalsOf(1, kill, subscribe, subscribe), refusalsOf(2, acquire, renewal, unlockOnce)),
		events: weights{{silence, 3}, {cutAll, 2}, {portClosed, 1}, {flushScripts, 2}, {killed, 2}}, aimed: 0.5,
		targets: map[string][]fault{enters: lossesOf(acquire), extends: lossesOf(renewal), mutely: asking,
			releases: join(lossesOf(unlockOnce), onceSwallow, []fault{{command: unlockOnce, how: lostBefore, times: 3}, {command: unlockOnce, how: lostSilent, times: 12}})}},
	{name: "owners used once, refusals", weight: 5, once: true, poor: 0.2, mute: 0.15, ways: []string{byURL, byPool}, length: seconds(2, 3.5), quiet: true, do: comeAndGo, leases: shorter, rival: 0.1,
		pace: 500 * time.Millisecond, ambient: join(refusalsOf(0, unlockOnce), refusalsOf(3, acquire), refusalsOf(1, renewal)), events: weights{{flushScripts, 1}}, aimed: 0.5,
		targets: map[string][]fault{enters: refusalsOf(2, acquire), extends: refusalsOf(1, renewal), mutely: refusalsOf(1, hexists),
			releases: join(refusalsOf(3, unlockOnce), refusalsOf(0, unlockOnce), forGood(unlockOnce))}},
	{name: "owners used once, CLIENT KILL refused", weight: 3, once: true, poor: 1, ways: []string{byURL, byPool}, length: seconds(1.5, 3), do: comeAndGo, leases: shorter, rival: 0.1,
		pace: 250 * time.Millisecond, ambient: join(lossesOf(renewal), onceSwallow), aimed: 0.6,
		targets: map[string][]fault{enters: lossesOf(acquire), extends: lossesOf(renewal), releases: join(lossesOf(unlockOnce), onceSwallow)}},
	{name: "owners used once, lost data", weight: 2, once: true, child: 0.3, mute: 0.4, ways: allWays, length: seconds(1, 2.5), do: comeAndGo, leases: shorter, rival: 0.1,
		pace: 300 * time.Millisecond, events: weights{{deleted, 3}, {flushed, 2}, {flushScripts, 1}, {killed, 1}}, aimed: 0.3,
		targets: map[string][]fault{enters: lossesOf(acquire), extends: lossesOf(renewal), mutely: asking, releases: lossesOf(unlockOnce)}},
}
