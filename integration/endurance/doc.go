// Command endurance plays random rounds of locks with shared owners under faults, and probes each promise of rlock from
// outside.
//
//	go run ./endurance -duration 30m -seed 7
//	go run ./endurance -round 139452154899749     plays one round, again and again
//	go run ./endurance -defects -duration 3m      shows that it bites
//
// A round is a fresh lock, two or three clients, each behind a fault proxy of its own, and an owner that one of them has
// made and given to others by its string; one of the clients may live in another process. Actors make calls that a seed
// draws, some of them while a fault is aimed at the call's own command, others come by themselves. A theme weighs what is
// drawn, so that each family of situations has its share. A round that is played again draws the same; when a thing
// happens depends on the machine, so one that failed may have to be played some times.
//
// In a third of the rounds each acquisition has an owner that is never asked for, so that its unlock has no latch. The
// ledger reads it from the hold's text. Only where an unlock is being lost is its owner shown now and then.
//
// What is held against the server, and against what passed the proxies:
//   - trust: while a hold says that it is valid, before and after the server was read, the key is there, the owner's count
//     is no less than its valid holds in all clients and processes, the key lives as long as the hold says, and no other
//     owner has a valid hold.
//   - loss: where no more than refusals met a client, none of its holds ends before its time.
//   - count: in the end, with the faults healed, the owner's count is what was granted less what was released, up to
//     calls that said that they don't know, and acquires that ended with their context while the machine stood still;
//     then nothing is left.
//   - locked, uncertain, given up: what a failed acquire says is what the record of its client's proxy shows.
//   - unlock: where owners are used once, an unlock has no latch, says that it released only if an answer did, and is not
//     sent again once its owner was shown.
//   - lease: the key goes when the last lease of an owner has ended, MaxHold's among them.
//   - bound: each call returns within its documented time, and what the machine stood still.
//   - left, shutdown: connections, subscriptions, keys, goroutines.
//
// What the documentation excepts comes off before something is called a violation, and only then: lost data, forced
// unlocks of others, shorter leases that another client has set for a shared owner, and unlocks of such an owner's holds
// that were over. A violation is printed with the round's seed, what was called and what failed, and what passed each
// proxy. The exit status is 1 then, and also if a run of 30 minutes or more met a class of faults too rarely.
//
// -defects lays edits over the build, one mistake of old at a time, and runs until a violation of the kind that the mistake
// must show.
package main
