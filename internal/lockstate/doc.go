// Package lockstate is what a client knows of its locks: who of its callers
// waits, who holds, and what it has sent and not been answered yet. Package
// rlock is its face. It checks what callers pass, names call and lock in the
// errors, and has the contracts; everything that happens is here.
//
// A [State] has 64 shards by the hash of the key. One mutex a shard guards all
// that is known of its names: the wait queue, the owners, and their holds and
// leases. So a grant, a message, a timer and a caller that gives up at the same
// moment have one order. No I/O is done under that mutex. Whoever takes it
// enters a section, which reads the clock once at the most; what it queued is
// written when it has been left.
//
// # From a call to its outcome
//
// A [Waiter] is a call that waits. The queue of its name, in
// internal/waitqueue, decides when it tries; waitqueue.go does what the queue
// says. A waiter that is alone gets its queue only when something else happens than
// its attempt (name.isOnly). errors.go has what it is told when it leaves.
//
// An attempt is one acquire command. It outlives its waiter, and ends in one place,
// attempt.end, whatever became of the command (attempt.go, undo.go). What a fresh owner
// may have got is undone. A re-entry that was lost is counted first, and undone only if
// nobody else acts as its owner (attempt.countHolds).
//
// A releasing is one unlock with all its repetitions. What is sent, who is told and
// when it ends is decided in internal/release, from top to bottom; releasing.go is the
// world that this acts on, errors.go has the texts. After a failover it is sent again
// (past.go).
//
// An extension is one Extend (extension.go); a ForceUnlock is one function (force.go). Package
// renew makes the scripts that extend leases for the watchdog; renewal.go is what it asks of
// an owner. What needs to know of no hold is elsewhere: a change of permits or of a
// latch in internal/change, and what only reads in internal/core.
//
// An [OwnerState] is what one owner has of one name. Its commands are sent one
// at a time and in order, none while the outcome of an earlier one is open (H6).
// internal/lease is the arithmetic of the lease that its holds share: what a command
// must pass, so that no hold gets less than it was promised, and what may be trusted
// afterwards. lease.go tells the watchdog, and ends holds that nobody released.
//
// # Servers
//
// Every command names the slot of its key, and a topology says which node has
// it. What the topology tells of its own, that slots have moved or that a server
// may have lost data, is acted on in failover.go; package renew cuts a batch by where
// its locks are. Nothing else here knows of more than one server.
//
// # Public holds
//
// A [Hold] is a part of the public one, which it knows as its face. An owner's
// state and its first hold are one allocation, made by [Config].NewOwner.
package lockstate
