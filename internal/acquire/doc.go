// Package acquire has the calls that want a lock, and their attempts to get it.
//
// A [Waiter] is one call. It makes its first attempt at once, or joins its name's line
// ([Waiter.Start]); its caller waits ([Waiter.Await]) and takes the result ([Waiter.Result]).
// When the queue asks for an attempt, [Waiter.Try] makes it; when the wait is over,
// [Waiter.EndWait] tells the caller. A caller that leaves before ends its wait in
// Waiter.giveUp. errors.go has what it is told.
//
// # An attempt
//
// An attempt is one acquire command (attempt.go). It has its turn in its owner's command
// queue: attempt.Start makes the command of the kind and gives it to the executor. Without As
// it has a fresh owner, unless it is certain that the last attempt left no hold. It can outlive
// its waiter, and always ends in attempt.end, once. A plain reply comes to attempt.Answered:
//
//   - granted: a hold for the waiter, or given back if the waiter has left;
//   - refused: the queue is told for how long;
//   - taken: what nobody owns, such as a permit of a plain semaphore. It makes no hold: the
//     waiter has it, or gives it back;
//   - ranInPart: an error that a script met half way.
//
// All else comes to attempt.Rest: it is lost, or it failed, which means that the server answered
// with an error or that nothing was sent.
//
// # A lost reply
//
// The command may have run, and bytes of it may still be on their way. Trust is lowered to what
// holds in either case, and neither the waiter nor its queue tries again before the executor's
// barrier has returned: then no byte of it runs later, unless the server refuses to kill the
// connection. While only this client acts as the owner, again.go sends it again, in a form that may
// run any number of times, and the answer to that is the attempt's.
//
// undo.go undoes the others: those whose caller has left, and those whose connection lives on, again
// for a lease. With As package unlock's Retract leaves the owner the holds that this client knows of.
// If others may act as the owner, attempt.countHolds reads its count instead; if that does not tell,
// the wait ends with ErrUncertain. Otherwise the waiter waits on, and its next attempt is a new one
// (A5).
package acquire
