// Package unlock releases: a hold ([Hold]), the hold of an owner of another process ([As]), a
// lock whoever has it ([Force]), and what a caller does not get ([GiveBack], [Undo]).
//
// A releasing is one unlock with all its repetitions. Package release decides what is sent,
// what the caller is told and when the unlock ends, and knows neither locks nor connections.
// releasing.go is its World: it makes the command, gives it to the executor, and keeps the
// owner's state in step. errors.go has the texts. An unlock has its turn in its owner's command
// queue, and goes on in the background when its caller has left.
//
// [Hold] ends the hold before anything is sent, so nobody trusts it while its unlock is under
// way. The owner's other holds keep the lease that they need, which the unlock passes on.
//
// # What is given back
//
// giveback.go releases what no caller has. A grant that came too late, or that its caller no
// longer wants, is unlocked as by a caller. An acquire whose reply was lost by an owner that is
// used once is undone without a question ([Undo]): the unlock takes what there is, and changes
// nothing if there is nothing. With As the client asks first, since another hold of the owner
// could be meant: attempt.countHolds in package acquire decides, and [Vain] is the unlock.
//
// # After a failover
//
// past.go remembers each unlock that was answered and each change that must not be lost, and
// sends it again when the server that ran it may have been replaced (R5).
package unlock
