// Package unlock releases: a hold ([Hold]), the hold of an owner of another process ([As]), a
// lock whoever has it ([Force]), and what a caller does not get ([GiveBack], [Undo]).
//
// A releasing is one unlock, sent until it is answered. Package release decides what is sent,
// what the caller is told and when the unlock ends, and knows neither locks nor connections.
// releasing.go is its World: it makes the command, gives it to the executor, and keeps the
// owner's state in step. errors.go has the texts. An unlock has its turn in its owner's command
// queue. When its caller has left, that of a hold goes on in the background; that of an owner
// of another process ends.
//
// [Hold] ends the hold before anything is sent, so nobody trusts it while its unlock is under
// way. The unlock sets the lease that the owner's other holds need.
//
// # What is given back
//
// giveback.go releases what no caller has. A grant that came too late, or that its caller no
// longer wants, is unlocked as by a caller. If the reply to an acquire is lost, it is undone
// without a question: [Undo] takes what an owner made for it has, and [Retract] leaves an owner
// that is used again what this client knows of.
//
// # After a failover
//
// Where a server may be replaced, past.go remembers the unlocks that were answered, and the
// changes that must not be lost. When that happens it sends the late ones again, each as a
// releasing of its own, while only this client can act as the owner (R5).
package unlock
