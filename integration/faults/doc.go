// Package faults makes one kind of fault happen a thousand times over and counts what became of it.
//
// The tests of package invariants show that each rule holds in a case made for it. This package asks another question:
// of a thousand lost replies, how many ended how, and did anything ever go wrong that must not? It is run in full by
//
//	make faults
//
// which takes some minutes, prints a table with a row for each fault and, with -write, puts it into
// docs/dev/tables/faults.md. A plain `go test` runs a twentieth of each row; -scale sets another part.
//
// A [scenario] is a row. Its rounds run in lanes, a few at a time; a lane has a client behind a fault proxy of its own
// and a rival client that goes straight to the server, unless the row is about an address that moves. A round has a
// lock name of its own and injects its fault once (or into a number of holds at once). What must never be seen is a
// violation: it fails the run and says what was seen. Four things look for violations:
//
//   - the round itself knows which errors its calls may return and which owner and count the server must show, and that
//     what a lock of its kind has besides, such as a queue or the keys of read holds, goes with them;
//   - an auditor reads every lock name in use from the server every few milliseconds: two owners, a hold that says it
//     is valid while the server says otherwise, a key that nobody in this process believes to hold for longer than the
//     row's bound;
//   - the server's own counters: what was counted up must have been counted down exactly once;
//   - when a row ends its clients are closed, and no key, latch, subscription, connection or goroutine may be left.
package faults
