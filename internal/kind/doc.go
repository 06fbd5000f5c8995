// Package kind is the seam between the lock objects and what they share.
//
// Redisson has many lock objects. Built so far are [Reentrant], [Spin], [Fair],
// [Fenced], [NonReentrant], [ReadLock], [WriteLock],
// [Permits], [Semaphore] and [CountDownLatch]. A [Kind] is all that tells
// one from another: its scripts and what their replies mean, the names of its keys
// and channels, which message wakes how many waiters, how a lease is renewed, and how an acquire is undone
// whose reply was lost. Who waits, who tries, what is sent again, what is
// trusted and what becomes of it all is written once, in terms of this
// interface, and knows none of the above.
//
// Each has a file, and the two of a read-write lock share readwrite.go. A kind whose waiters
// stand in line on the server has [Traits.ByOwner] (fair.go), one that refuses what others
// grant says so by Grant.Refused (nonreentrant.go). docs/dev/another-kind.md says how to add
// one.
//
// A kind is pure. It performs no I/O, keeps no state and reads no clock; it only
// makes commands and reads replies. One value of it serves all clients.
//
// # What is shared on a key
//
// Several kinds may work on one key. Kinds of one [Traits.Family] keep their
// owners in the same place, so on one key they share the order of an owner's
// commands, its leases, and what a forced unlock ends: a plain lock and a spin
// lock, a read lock and a write lock. Kinds of different families on one key
// have nothing in common and do not disturb each other. Within a family the
// waiters of each [Traits.Queue] are a queue of their own.
//
// # Cost
//
// An acquire and an unlock are made of what their maker has at hand: [Want] is a
// pointer into an object that exists anyway, arguments that recur are boxed once
// by whoever keeps them, and room has space for the arguments. A kind must not
// allocate on the way of an uncontended lock.
package kind
