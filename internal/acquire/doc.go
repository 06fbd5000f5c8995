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
// each attempt has a fresh owner, unless the last one was refused. It can outlive its waiter,
// and always ends in attempt.end, once. How it goes on is one function for each reply:
//
//   - granted: a hold for the waiter, or given back if the waiter has left;
//   - refused: the queue is told for how long;
//   - failed: the server answered with an error, or nothing was sent;
//   - Rest: the reply is lost.
//
// # A lost reply
//
// The command may have run, and bytes of it may still be on their way. Trust is lowered to what
// holds in either case, nothing else is tried for the name, and the executor's barrier makes
// sure that no byte of it runs later. Then undo.go undoes it: by a fresh owner without a
// question, with As after the owner's count of holds was read (attempt.countHolds). The waiter
// waits on, and its next attempt is a new one (A5).
//
// What nobody owns, such as a permit of a plain semaphore, makes no hold: the waiter has it or
// gives it back (attempt.taken).
package acquire
