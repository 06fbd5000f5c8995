// Package faults makes each kind of fault happen many times, up to a thousand, and counts the outcomes.
//
// The tests of package invariants show that each rule holds in a case made for it. This package asks another question:
// of a thousand lost replies, how many had which outcome, and was there ever a violation? It is run in full by
//
//	make faults
//
// which takes some minutes, prints a table with a row for each fault and, with -write, puts it into
// docs/dev/tables/faults.md. A plain `go test` runs a twentieth of each row; -scale sets another part.
//
// A [scenario] is a row. Its rounds run in lanes, a few at a time. Each lane has a client behind its own fault proxy and
// a rival client that connects directly to the server, unless the row is about an address that moves. Each round has its
// own lock name and injects its fault once (or into several holds at once). A violation is what must never happen: it
// fails the run, which prints what was seen. Four checks look for violations:
//
//   - the round checks which errors its calls return, which owner and count the server shows, and that the other data of
//     a lock of its kind, such as a queue or the keys of read holds, match the count;
//   - an auditor reads every lock name in use from the server every few milliseconds. It reports two owners, a hold that
//     is valid while the server does not have it, and a key that no hold of this process owns for longer than the row's
//     bound;
//   - the server's own counters: each count up must have been followed by one count down;
//   - when a row ends its clients are closed, and no key, latch, subscription, connection or goroutine may be left.
package faults
