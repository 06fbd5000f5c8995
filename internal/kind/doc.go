// Package kind is the interface between the lock objects and the code that they share.
//
// Redisson has many lock objects. Built so far are [Reentrant], [Spin], [Fair],
// [Fenced], [NonReentrant], [ReadLock], [WriteLock],
// [Permits], [Semaphore] and [CountDownLatch]. A [Kind] is all that differs
// between them: its scripts and what their replies mean, the names of its keys
// and channels, which message wakes how many waiters, how a lease is renewed, and how an
// acquire is sent again whose reply was lost. The shared code decides which waiter tries, what
// is sent again and what is trusted. It uses this interface only, and knows none of those
// differences.
//
// Each kind has a file, and the two of a read-write lock share readwrite.go.
// docs/dev/another-kind.md describes how to add one.
//
//   - A kind makes its renewal itself: [Kind.Renew], for the read lock readLock.Renew with
//     luasrc's read_renew.lua. Package locks asks the kind of a script's first lease, puts
//     leases into one script if their kinds have the same [Traits.RenewGroup], and sends it.
//   - A kind whose waiters queue on the server embeds fair (fair.go): [Traits.ByOwner], a
//     channel for each owner, and the scripts that queue, leave and announce.
//   - A kind that refuses what others grant replies so, and its Granted sets Grant.Refused
//     (nonreentrant.go). For a lock that does both, embed fair, take Granted from NonReentrant,
//     write Traits of its own, and an Acquire that sends a fair_lock.lua which answers its own
//     holder with status_reply(luasrc.Reacquired) before it queues.
//
// A kind is pure. It performs no I/O, keeps no state and reads no clock; it only
// makes commands and reads replies. One value of it serves all clients.
//
// # What is shared on a key
//
// Several kinds may work on one key. Kinds of one [Traits.Family] keep their
// owners in the same place. So on one key they share the order of an owner's
// commands, its leases, and what a forced unlock ends: a plain lock and a spin
// lock, a read lock and a write lock. Kinds of different families on one key
// have nothing in common and do not disturb each other. Within a family the
// waiters of each [Traits.Queue] have their own queue.
//
// # Cost
//
// An acquire and an unlock are made of values that already exist: [Want] points
// into an existing object, its maker boxes recurring arguments once,
// and room has space for the arguments. A kind must not
// allocate for an uncontended lock.
package kind
