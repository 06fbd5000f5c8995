// Package checker judges a history.
//
// What it holds against a run:
//   - Two windows of different owners overlap on one lock.
//   - The server, looked at past all faults, does not show a hold that says it is valid, or shows an owner more often than it
//     can have been granted the lock and not released it ([probing]); or an unlock says "not held" to an owner that holds.
//   - A hold was lost before the time that it had said, where no fault was near.
//   - A lock was free, somebody of the Go side waited for it, and nobody entered in time.
//   - Too many windows had to be set aside, because a fault took the server's data under them.
//
// A kind of lock promises more, or something else. That is its [Model], by which windows that may overlap are told from those
// that may not, and which has some rules of their own:
//
//   - Shared, of a read-write lock: those who read may overlap. The end of a read hold frees the lock only if nobody else can
//     have been inside, a JVM included that keeps what none of its threads holds.
//   - Once, of a non-reentrant lock: an owner's windows may not overlap either, and its second acquire is refused for what it
//     is ([reentry]).
//   - Tokens, of a fenced lock: they rise ([numbering]).
//   - Order, of a fair lock: who is in the queue first enters first ([ordering]). A free lock may wait for a place that
//     nobody has any more, so only who is next has to enter in time, and as long as its place lasts.
//   - Permits, of a semaphore: at no moment are more taken than there are. Those of a holder that was killed are taken until its
//     lease ends, as far as it knew of that. Who wants several may be passed by who wants one.
//   - Several, of a multi-lock: each member is a lock by itself. Who waits may wait for another member, so nobody has to enter at
//     once; but a member that is wanted must not stand for more than two rounds ([standing]).
//   - Common: several processes act as some owners, whose windows may be inside one another. Where one of them unlocks what was
//     over, or does not know whether it did, it may have taken another's hold: the owner's windows end there.
//
// How often these met anything is in Verdict.Judged.
//
// A history may be longer than memory: it comes in chapters, and what is judged is forgotten.
package checker
