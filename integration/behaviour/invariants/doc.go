// Package invariants holds tests only. The tests of each invariant of docs/dev/invariants.md carry its number in their
// names, such as TestA5LostAcquireIsSentAgain.
//
// Each test has its own redis-server behind a proxy that withholds, drops, delays and cuts. A test checks what its
// callers got, what the server keeps, and what passed the proxy in which order. At its end it closes its clients, which
// must leave nothing on the server: no connection, no subscription, no latch.
//
// Timeouts are short (see timeout in the rig), so that faults show soon. What must be quick still gets seconds, and
// leases of 30 s tell a wake-up from an expiry.
package invariants
