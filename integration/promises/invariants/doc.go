// Package invariants holds tests only: for each invariant of docs/dev/invariants.md the tests that carry its number in their
// names, such as TestA5LostAcquireReplyIsUndone.
//
// Each test has a redis-server of its own and a proxy before it that withholds, drops, delays and cuts. A test looks
// at what the caller was told, at what the server keeps, and at what passed the proxy and in which order. When it
// ends, its clients are closed, and then nothing of theirs may be left on the server: no connection, no subscription,
// no latch.
//
// Timeouts are short (see timeout in the rig), so that faults show soon; what must happen quickly gets seconds
// nevertheless, while leases of 30 s tell a wake-up from an expiry.
package invariants
