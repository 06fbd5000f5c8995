// Package lockstate keeps what a client knows of its locks: which callers wait, which
// owners hold, and which commands have no reply yet. Package rlock is the public API on top
// of it: it checks what callers pass, adds the call and the lock's name to errors, and has
// the contracts. Everything that happens is here.
//
// A [State] has 64 shards by the hash of the key. Each has one mutex, which guards all that
// is known of its names: the wait queues, the owners, and their holds and leases. So a
// grant, a message, a timer and a caller that gives up at the same moment have one order.
// No I/O is done under that mutex. It is taken by entering a section, which reads the clock
// at most once. The commands that were queued in a section are written when it has ended.
//
// # From a call to its outcome
//
// A [Waiter] is a call that waits. The queue of its name, in internal/waitqueue, decides
// when it makes an attempt; waitqueue.go carries that out. A waiter that is alone gets its
// queue only when something other than its own attempt happens (name.isOnly). errors.go has
// the errors of waiters that give up.
//
// An attempt is one acquire command. It can outlive its waiter, and always ends in
// attempt.end (attempt.go). If its reply is lost, attempt.Rest has undo.go undo what it may
// have got: for a fresh owner without a question. With As, which mostly is a re-entry, the
// client first asks for the owner's count of holds, and sends the kind's Release for one only
// if the count is one too high and nobody else can hold as that owner (attempt.countHolds).
//
// A releasing is one unlock with all its repetitions. Package internal/release decides what
// is sent, what the caller is told and when the unlock ends. releasing.go carries that out,
// and errors.go has the texts. After a failover the unlock may be sent again (past.go).
//
// An extension is one Extend (extension.go); a ForceUnlock is one function (force.go).
// Package renew puts leases into scripts for the watchdog; renewal.go has what package renew
// calls of an owner. Calls that concern no hold are elsewhere: changes of permits or of
// a latch in internal/change, and reads in internal/core.
//
// An [OwnerState] is the state of one owner on one name. Its commands are sent one at a
// time and in order, none while the outcome of an earlier one is open (H6). Package
// internal/lease computes the lease that its holds share: what a command must pass so that
// no hold gets less than it was promised, and what may be trusted afterwards. lease.go
// tells the watchdog of the lease, and ends holds that are lost.
//
// # Servers
//
// Every command names the slot of its key, and a topology says which node has it. The
// topology also reports when slots have moved and when a server may have lost data;
// failover.go handles that. Package renew cuts a batch by node. Nothing else here knows of
// more than one server.
//
// # Public holds
//
// A [Hold] is a part of the public hold, which it refers to as its Face. An owner's state
// and its first hold are one allocation, made by [Config].NewOwner.
package lockstate
