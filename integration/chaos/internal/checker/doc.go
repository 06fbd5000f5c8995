// Package checker judges a history.
//
// Each of these is a violation:
//   - Two windows of different owners overlap on one lock.
//   - The server, read past all faults, does not show a hold that claims to be valid, or shows more holds of an owner than it
//     can have been granted and not released ([probing]); or an unlock reports "not held" to an owner that holds.
//   - A hold was lost before the time that it had reported, and no fault was near.
//   - A lock was free, a Go client waited for it, and nobody entered in time.
//   - Too many windows had to be set aside, because a fault deleted the server's data under them.
//
// Each kind of lock has a [Model], which says how its promises differ: which windows may overlap, and which rules are added.
//
//   - Shared, of a read-write lock: readers may overlap. The end of a read hold frees the lock only if nobody else can have
//     been inside, not even a JVM with a hold that none of its threads knows of.
//   - Once, of a non-reentrant lock: an owner's windows may not overlap either, and its second acquire is refused as a
//     re-entry ([reentry]).
//   - Tokens, of a fenced lock: they rise ([numbering]).
//   - Order, of a fair lock: the first in the queue enters first ([ordering]). A free lock may wait for a place that its
//     owner has given up, so only the first waiter has to enter in time, and only while its place lasts.
//   - Permits, of a semaphore: never more are taken than there are. A killed holder's permits count as taken until the end of
//     its lease as last reported. A call for one permit may overtake a call for several.
//   - Several, of a multi-lock: each member is judged as a lock. A waiter may be waiting for another member, so nobody has to
//     enter at once; but a member that is wanted must not stay free for more than two rounds ([standing]).
//   - Common: several processes act as the same owners, whose windows may be nested. If a process unlocks after its hold was
//     over, or does not know whether it unlocked, it may have released another's hold: the owner's windows end there.
//
// Verdict.Judged counts how often these rules had something to judge.
//
// A history may be larger than memory: it comes in chapters, and the checker forgets what it has judged.
package checker
