// Package state has what a client knows of its locks: the names that are in use, who holds
// them, until when each hold may be trusted, and which commands of an owner have no reply yet.
// It is data and its rules. It sends no command but questions: package acquire acquires,
// package unlock releases, package extend extends, and each leaves here what it has learned.
//
// # Who has what
//
// A [Client] has 64 [Shard]s by the hash of the key. Each is one critical section (package
// section), which guards all that is known of its names: their waiters, owners, holds and
// leases. So a grant, a message, a timer and a caller that gives up at the same moment have one
// order.
//
// A [Name] is one key and one family of kinds. It has a line of those who wait (package
// waiting) and the states of its owners, and exists while there is one of either. A [Lock] is
// a handle: it never changes.
//
// An [OwnerState] is the state of one owner on one name. Its commands are sent one at a time
// and in order, none while the outcome of an earlier one is open (H6): [OwnerState.Run] starts
// an [Operation] when its turn comes, and [OwnerState.Done] ends it. A renewal may run while the
// command under way pauses ([OwnerState.Pause]). This is where the commands of callers and of
// the watchdog take turns.
//
// A [Hold] is one acquisition. It is a part of the public hold, and its Face points back there.
// An owner's state and its first hold are one allocation, made by [Config].NewOwner.
//
// # Trust
//
// The holds of an owner share one lease, registered with the watchdog before the acquire is
// sent (H5). Package lease computes it: what a command must pass so that no hold gets less than
// it was promised ([OwnerState.CommandLease]), and what may be trusted afterwards
// ([OwnerState.Live], [OwnerState.MayHaveSet]). Whoever asks a hold reads the clock (H3): no
// hold that has expired still says that it is held. When package renew renews for the watchdog,
// it asks the owner's state for the lease and tells it what came of it (renewal.go).
//
// A hold ends once, in [Hold.Over]: released by its caller, lost, or closed with its client. If
// no message will come of a loss, the waiters of the line look.
//
// # What a failover may undo
//
// A shard's [Memory] has its unlocks and changes of the last seconds. It says what is due when
// a server may have been replaced; package unlock sends that again.
package state
