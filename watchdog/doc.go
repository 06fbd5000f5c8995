// Package watchdog, whose API may change in any minor version until 1.0, renews
// leases and calls their holders when a lease is lost.
//
// A lock in Redis is a key that expires. Its holder must renew it in time, and
// must know, without asking the server, until when it may rely on the lock. One
// [Watchdog] does both for every lease of a client, with one goroutine. It knows
// nothing of Redis: a [RenewFunc] sends a batch of renewals and delivers the
// answers later. So a slow server does not delay the leases of other servers.
//
// # A lease's life
//
// [Watchdog.Register] makes a pending [Lease] before the acquire is sent. The
// code that decodes the grant calls [Lease.Live], with trust counted from the
// send ([Trust]). From then on the watchdog renews the lease, if it is to be
// renewed, and calls its [Holder] when it is lost. The caller calls
// [Lease.Forget] before it sends the last unlock. A lease never becomes live
// again, so each registration is a generation: an answer counts only for the
// lease and the attempt that it was sent for.
//
// # What is guaranteed
//
//   - A renewing lease is renewed every third of the TTL or earlier, with groups up to
//     four slots of the schedule later. It has at most one renewal in flight. A failed
//     renewal is repeated while trust lasts. No renewal starts after renewUntil, except
//     one that [Watchdog.RenewNow] asks for, because the server may lack the command
//     that set the lease last.
//   - While no lease comes, goes or fails, n leases of one group cost at most n/25 + 1
//     batches in any third of the TTL, and these are evenly spread over it.
//   - A lease is lost when its trust ends by the clock, or when the server
//     says "not yours", and for no other reason. The clock alone decides: once
//     expiry has passed, no late answer and no call revives the lease, even if
//     LeaseLost has not been called yet. So code that compares [Lease.Expiry] with
//     the clock and code that waits for LeaseLost never contradict each other.
//   - LeaseLost is called once, and not after Forget, except for a call that was
//     under way.
//   - No lock of the watchdog is held while it calls a RenewFunc, Look, Idle or a Holder.
//
// # How a loss is noticed before the next renewal
//
// Some servers notify a client when a key that it read changes. [Options].Look reads the
// key of a lease that is a second or two old, and again after each change that
// [Lease.Changed] reports. A renewal can read the key too ([Answer].Read). Looks do not
// affect renewals: they are sent apart, after the renewals that are due, and at a limited
// pace. With a server that never notifies, a loss is noticed at the next renewal.
//
// # What is not guaranteed
//
// The watchdog does not order commands. An answer sets the expiry that it
// carries, as a PEXPIRE sets a TTL, even to an earlier one. The caller must see
// to it that no other command of the same owner overtakes a renewal; its RenewFunc
// can answer Busy. A Holder is called as soon as the scheduler allows, and after a
// suspend up to a second late; code that must not be late has to read the clock.
//
// # How it is cheap
//
// Live leases are in batches of up to [MaxBatch]. One heap orders the batches by the
// instant at which one of their leases needs something: a renewal, an end, an alarm.
// A lease that becomes live joins the newest batch, if that is renewed less than a
// sixth of the TTL before the lease would be; otherwise it opens another one. So joining
// and leaving needs no search, and most leases are forgotten before anything in their
// batch is due. Leases that were acquired one by one are gathered, and are timed by
// the same send from the first renewal on: n leases cost n/25 batches each third,
// rounded up. A batch that some leases have left is filled up from the next when sent.
//
// No lease joins a batch after it is sent. A lease whose answer comes leaves the batch,
// and joins or opens one for the next third; a lease without an answer stays until it
// ends. Leases whose renewal failed are in separate batches, so that a lease whose
// renewal always fails can neither spoil the batches of others nor make them early.
// Leases that are not renewed are in separate batches too.
//
// The goroutine is woken only for an instant earlier than the one it sleeps until, and
// not for a lease that is forgotten. It ends when it wakes and finds no live lease, at
// most a second after the last. If its first lease is forgotten before it looks, it
// still sleeps once, in case another lease comes.
//
// # Groups
//
// In a cluster one script renews keys of one slot only. [Options].Group tells the
// watchdog of such limits. Then all leases of a batch are of one group. A group of no
// more than a batch is renewed together, however early that is for some of its leases;
// a larger group is split as leases are without groups. So a third takes at most one
// command per group, one more for each further 25 leases of a group, and a few more
// while leases are added. One call of the RenewFunc has as many whole groups as fit.
// Groups that are renewed by one call are due at one instant next time, and are sent at
// the pace described below even then. So a renewal can be late by up to four slots of
// the schedule, 10 ms for a TTL of 30 s.
//
// # How the load is spread
//
// A server that renews a batch does nothing else meanwhile. Leases that were acquired
// together must not be renewed together. So the third of the TTL is cut into 4,096
// slots, and a schedule counts the batches that are due in each. If there is no room
// for a batch's first renewal when it is due, it is renewed in the latest earlier slot
// that has room, but not within the first 48th of the TTL. If no slot has room, the
// limit of all slots grows by one. Later renewals follow a third apart and so keep the
// spread. Only a renewal that was late by more than four slots, or a retry, looks for a
// new slot, because failures make leases due together too. While at most 25 leases
// become due in each slot, no renewal is moved. The leases of a batch keep their order,
// since keys that the server received together lie together in its memory.
//
// Renewals that are late by less than a twelfth of the TTL, because the process stood
// still, are sent at twice the even pace. Later ones are sent at once, and so are
// retries.
package watchdog
