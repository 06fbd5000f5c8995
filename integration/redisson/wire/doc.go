// Package wire proves that this library and Redisson say the same to Redis.
//
// Its own tests do so for Redisson 4.7.0, whose bytes the library reproduces, and for the spin lock of 3.21.3 and the fenced one of 3.52.0 too; [Proof]
// is for others that want it for other releases and servers. Each scenario (a first acquire, a contended try, a wait that a
// message ends, …) is run twice against one real server: by Redisson in its JVM and by package rlock. Both go through a
// recording proxy, which has commands and replies, while MONITOR has what ran inside the scripts, a subscriber what was
// published, and a look at the keyspace what was left. That makes a trace: the client's commands in the order of their execution, each with its inner calls and
// its reply, then messages, then keys.
//
// # What is evened out
//
// Owners, latch ids and times that pass differ between any two runs of the same client. They are replaced by names
// (OWNER1, LATCH1, in order of appearance) and rounded, on both sides alike, and only where their form is right: an owner
// must begin with its client's id, a latch id must be 32 hex digits. Leases are compared to the millisecond. A script is
// named by its role, since only the lock script is the same text on both sides; its SHA-1 stays in the trace.
//
// What is a matter of timing is put in one place, on both sides alike: a latch's DEL behind its unlock, an UNSUBSCRIBE
// behind the attempt before it, repeated ticks of the watchdog into the first, one or two tries at the very end of a lease
// into the try before them, and the loading of scripts nowhere, except in the scenarios that are about it.
//
// A spin lock's waiter asks again and again. Its tries are one, if they are refused alike and the pauses between them double
// from 1 ms to 128 ms, give or take a factor of two; a pause that does not is shown.
//
// Commands that set a connection up are left out by an explicit list. Anything else is compared, so a command that
// nobody thought of fails the proof.
//
// # Several servers
//
// A [Place] is a master with a replica, a master with replicas behind Sentinels, or a cluster. Before each of its servers
// there is a proxy, under whose address everybody knows the server: clients, Sentinels and the servers themselves. Each has
// a MONITOR of its own, and the traces of all are put in the order of time. The WAIT behind a script on its connection is a
// part of the script's step, with its answer; a WAIT that stands alone is a step. How a client learns who has which slots,
// who is master and how many replicas there are is set-up. In a cluster both kinds of messages are listened to.
//
// # What may differ
//
// The table justified names each difference that is there on purpose, by scenario or kind of lock and by rule, with its
// reason. A rule undoes exactly one difference; if it finds nothing to undo, the proof fails, so the table cannot outlive
// its reasons. The forms that older releases have of commands and scripts are in the same table, by release instead of by scenario:
// each must be found somewhere in a release that has it, and is not undone in others.
package wire
