// Package wire proves that this library and Redisson send Redis the same commands.
//
// Its own tests do so for Redisson 4.7.0, whose bytes the library reproduces, and for the spin lock of 3.21.3 and the
// fenced lock of 3.52.0; other packages use [Proof] for other releases and servers. Each scenario (a first acquire, a
// contended try, a wait that a message ends, …) runs twice against one real server: by Redisson in its JVM and by package
// rlock. A proxy records commands and replies, MONITOR the calls inside scripts, and a subscriber the messages; at the end
// the keys are read. The result is a trace: the client's commands in the order of their execution, each with its inner
// calls and its reply, then messages, then keys.
//
// # What is evened out
//
// Owners, latch ids and TTLs differ between any two runs of the same client. On both sides they are replaced by names
// (OWNER1, LATCH1, in order of appearance) or rounded, but only where their form is right: an owner must begin with its
// client's id, a latch id must be 32 hex digits. Leases are compared to the millisecond. A script is named by its role,
// since only the lock script is the same text on both sides; its SHA-1 stays in the trace.
//
// What depends on timing is moved to one place on both sides: a latch's DEL goes after its unlock, an UNSUBSCRIBE after the
// attempt before it. Repeated ticks of the watchdog are merged into the first, and one or two tries at the very end of a
// lease into the try before them. The loading of scripts is left out, except in the scenarios that are about it.
//
// A spin lock's waiter polls. Its tries are merged if they are refused alike and the pauses between them double from 1 ms
// to 128 ms, give or take a factor of two; any other pause is shown.
//
// Commands that set a connection up are left out by an explicit list. Anything else is compared, so a command that nobody
// thought of fails the proof.
//
// # Several servers
//
// A [Place] is a master with a replica, a master with replicas behind Sentinels, or a cluster. Each of its servers is
// behind a proxy, by whose address clients, Sentinels and the other servers know it. Each has its own MONITOR, and all
// commands are put in the order of time. A WAIT after a script on the same connection is part of the script's step, with
// its reply; a WAIT that stands alone is a step. The commands by which a client learns the slots, the master and the number
// of replicas are set-up. In a cluster the subscriber hears both kinds of messages.
//
// # What may differ
//
// The table justified lists each intended difference, by scenario or kind of lock and by rule, with its reason. A rule
// undoes exactly one difference; if it finds nothing to undo, the proof fails, so the table cannot outlive its reasons. The
// forms that commands and scripts have in older releases are in the same table, by release instead of by scenario: a
// release that has one must show it in some scenario, and in others it is not undone.
package wire
