// Package locks has what a client knows of its locks and what it does with them: it acquires,
// renews and releases them, and knows until when each hold may be trusted.
//
// A [Client] is opened, follows the changes of the topology, counts, and is shut down. Package
// rlock is the public API on top of it: it checks what callers pass, adds the call and the
// lock's name to errors, and has the contracts. The decisions that need no client are pure
// packages: waitqueue (who tries, and when, and when to leave room for others), release (how an
// unlock goes), lease (what holds need together) and kind (what tells one lock object from
// another: scripts, replies, keys).
//
// # The files
//
// A file has one concept, and the files of an operation begin with its name. Each imports no
// others, but calls go downwards in this list:
//
//	client    opens, follows the topology, counts, ends
//	acquire   calls that want a lock, and their attempts
//	unlock    unlocks, and what is given back or undone
//	force     forced unlocks
//	extend    a longer lease for one hold
//	past      what a failover may undo, and what is sent again
//	change    changes of permits and latches
//	hold      holds, their contexts, the lease that they share
//	owner     owners, who may act as them, and the state of one on one name
//	renew     renewals and looks
//	wait      who waits for a name: queues, subscriptions, places on the server
//	name      names, and the shards that have them
//	section   the critical section in which all of it happens
//	ask       reads
//	lock      handles, which never change
//	errors    the errors that callers can ask for
//
// # Who has what
//
// A client has 64 shards by the hash of the key. Each is one [section], which guards all that is
// known of its names: their waiters, owners, holds and leases. So a grant, a message, a timer
// and a caller that gives up at the same moment have one order. A section has one time. No I/O
// is done in it, and no code of others is called: both happen when it has ended. A function that
// must wait for the server leaves it meanwhile, and says so ([section.without]).
//
// A [nameState] is one key and one family of kinds. It has those who wait and the states of its
// owners, and exists while there is one of either. A [Lock] is a handle.
//
// An [OwnerState] is the state of one owner on one name. Its commands are sent one at a time and
// in order, none while the outcome of an earlier one is open (H6): [OwnerState.run] starts an
// [operation] when its turn comes, and [OwnerState.done] ends it. A renewal may run while the
// command under way pauses ([OwnerState.pause]).
//
// A [Hold] is one acquisition. It is a part of the public hold, and its Face points back there.
// An owner's state and its first hold are one allocation, made by [Config].NewState.
//
// # Owners
//
// A few numbers for each client ([actors]) say who may act as an owner. Owners made for a caller
// are even, those made for one acquisition are odd. An owner is
//
//   - own while only its client can act as it. Its client alone knows how many holds it has, so
//     an unlock says how many it leaves, and may be sent any number of times.
//   - foreign from when its text leaves or is read, or another client of this process acts as it.
//     From then on another process may acquire as it, so its unlock takes one from the count, and
//     keeps a latch. Each client remembers the 1,024 newest of each sort, and takes those before
//     these for foreign too.
//   - a stray while an unlock of it may still arrive that leaves it no hold. That unlock would
//     release what is acquired as the owner, so nothing is acquired as it.
//
// # Waiting
//
// A name has a [queue] for each sort of waiters: one for those of a plain lock, one for readers,
// and where the server keeps the order, one for each owner. Package waitqueue decides; here are
// the timer and the subscriptions that it asks for. Each event goes to a queue, and [nameState.step]
// must follow, which does what the queues with an event ask for. A waiter that is alone gets its
// queue only when something other than its own attempt happens.
//
// When this client releases, it hands the lock on ([nameState.handOff]): the acquire of its first
// waiter usually follows the unlock in the same write, and the queue ignores the message of that
// unlock. Sometimes it is the turn of other clients, and then its waiters wait for the message too.
// The script that deletes the key publishes that message, which wakes the first waiter of each
// client. If that waiter is granted or refused, the queue says whether the next one tries.
//
// A queue listens on its kind's channel at the node of its slot. While it has subscribed and is
// not listening yet, or has lost its subscription, no message reaches it, so its head looks once
// a second, or less often if there are more than a thousand such queues.
//
// Where the server keeps the order, a waiter that gives up leaves the server's queue. Many that
// leave at once share a script: its cost grows with the length of the server's queue.
//
// # An attempt
//
// A [Waiter] is one call, and an [attempt] one acquire command of it, which has its turn in its
// owner's command queue. Without As, which names an owner, it has a fresh one, unless it is certain
// that the last attempt left no hold. It can outlive its waiter, and always ends in attempt.end,
// once. A plain reply comes to attempt.Answered. All else comes to attempt.Rest: it is lost, or it
// failed, which means that the server answered with an error or that nothing was sent.
//
// A lost command may have run, and bytes of it may still be on their way. Trust is lowered to
// what holds in either case, and neither the waiter nor its queue tries again before the
// executor's barrier has returned: then no byte of it runs later, unless the server refuses to
// kill the connection. What follows is the same for a first acquire and for a re-entry (A5):
//
//   - While only this client acts as the owner, attempt.again sends it again in a form that may
//     run any number of times, which says how many holds the owner has with this one. The caller
//     does not notice, unless the owner's other holds are gone: these end, and the wait goes on.
//   - If the caller has left, an unlock takes back what the acquire may have got ([undo]), and with
//     As leaves the owner the holds that this client knows of ([retract]).
//   - If the connection lives on, the command may run later. The undo is repeated each second for a
//     lease, and the waiter tries as a new owner. With As the wait ends with ErrUncertain.
//   - If others may act as the owner, attempt.countHolds reads its count. If that shows that the
//     acquire did not run, the waiter tries again. Otherwise the wait ends with ErrUncertain.
//
// # An unlock
//
// A [releasing] is one unlock, sent until it is answered, and the World of package release.
// [Unlock] ends the hold before anything is sent, so nobody trusts it while its unlock is under
// way. The unlock sets the lease that the owner's other holds need. When its caller has left,
// that of a hold goes on in the background; that of an owner of another process ends.
//
// What no caller gets is released too: a grant that came too late, or that its caller no longer
// wants, is unlocked as by a caller.
//
// # Trust
//
// The holds of an owner share one lease, registered with the watchdog before the acquire is sent
// (H5). Package lease computes what a command must pass so that no hold gets less than it was
// promised ([OwnerState.commandLease]), and what may be trusted afterwards ([OwnerState.live],
// [OwnerState.mayHaveSet]). Whoever asks a hold reads the clock (H3): no hold that has expired
// still says that it is held. A hold ends once, in [Hold.over]: released by its caller, lost, or
// closed with its client. If no message will come of a loss, the waiters of the name look.
//
// # Renewals
//
// The watchdog gives batches to the [renewer], which cuts each by node. A node's part goes in one
// write, when the node's limiter admits it: one script for all leases whose kinds have the same
// [kind.Traits.RenewGroup]. A renewal has its place among its owner's commands (H6). A look has
// none, and delays nothing.
//
// # After a failover
//
// Where a server may be replaced, a shard's [memory] has its answered unlocks, leaves of a fair
// lock's queue and changes of the last 15 seconds. The topology may report one failover several
// times. Each time those that were not answered on the connection in use are sent again, first
// unlocks and leaves, then changes, 16 of a shard at a time (R5). Of the unlocks of one owner the
// newest is enough, since it says how many holds are left. An unlock of an owner that others may
// act for, a forced one and an answered acquire are not sent again: another owner may have been in
// between. Waiters subscribe where releases are announced now, and all holds are renewed at once.
package locks
