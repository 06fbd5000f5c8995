// Package watchdog keeps leases alive and tells their holders when they die.
//
// A lock in Redis is a key that expires. Whoever holds it must renew it in
// time, and must know, without asking the server, until when it may be relied
// on. One [Watchdog] does both for every lease of a client, with one
// goroutine. It knows nothing of Redis: a [RenewFunc] sends a batch of
// renewals and brings the answers later, and so a server that is slow to
// answer delays nobody else's lease.
//
// # A lease's life
//
// [Watchdog.Register] makes a pending [Lease] before the acquire is sent.
// Whoever decodes the grant calls [Lease.Live], with trust counted from the
// send ([Trust]). From then on the lease is renewed, if it is to be, and its
// [Holder] is told of its end. [Lease.Forget] comes before the last unlock is
// sent. A lease never comes back, which makes each registration a generation:
// the answer to a renewal is taken in only by the lease, and for the attempt,
// that it was sent for.
//
// # What is guaranteed
//
//   - A renewing lease is renewed every third of the TTL (with groups, to four slots
//     of the schedule), or earlier, and has one renewal in flight at most. A failed
//     renewal is repeated while trust lasts. After a lease's renewUntil none starts.
//   - n leases of one group cost no more than n/25 + 1 batches in any stretch of
//     a third while none comes, goes or fails, and these are evenly spread over it.
//   - A lease is lost when its trust ends by the clock, or when the server
//     says "not yours", and for no other reason. The clock alone decides: once
//     expiry has passed, no late answer and no call revives the lease, even if
//     the loss has not been told yet. So whoever compares [Lease.Expiry] with
//     the clock and whoever waits to be told never contradict each other.
//   - The loss is told once, and not after Forget, except for a call that was
//     under way.
//   - Nothing of the watchdog is locked while it calls out.
//
// # How a loss is noticed before the next renewal
//
// Where a server tells of changes of what was read, [Options].Look reads the key of a lease
// that is a second or two old, and again after each change that [Lease.Changed] reports. A
// renewal reads too ([Answer].Read). Looks have no effect on renewals: they are sent apart,
// after what is due, and at a pace. A server that tells nothing costs no more than that a
// loss is noticed by a renewal.
//
// # What is not
//
// The watchdog does not order commands. An answer sets the expiry that it
// carries, as a PEXPIRE sets a TTL, even to an earlier one; that no other
// command of the same owner overtakes it is up to the caller, who can answer
// Busy. And being told is as fast as the scheduler, or after a suspend as a second,
// allows; what must not be late has to read the clock.
//
// # How it is cheap
//
// Live leases lie in batches of up to [MaxBatch], and one heap orders the batches by
// when there is something to do for one of their leases: a renewal, an end, an alarm.
// A lease that becomes live joins the newest batch, if that is renewed less than a
// sixth of the TTL before the lease would be; else it opens another one. So joining
// and leaving needs no search, and most leases are forgotten before anything of their
// batch is due. Leases that were acquired one by one are gathered, and are timed by
// the same send from the first renewal on: n leases cost n/25 batches each third,
// rounded up. A batch that others have left takes leases of the next when it is sent.
//
// Once sent, a batch takes nobody in. Each lease whose answer comes leaves it, and
// joins or opens one for the next third; whoever gets no answer stays, until its end
// is told. Leases whose renewal failed are in batches of their own, so that one whose
// renewal always fails can neither spoil the batches of others nor draw them in ahead
// of time. So are those that are not renewed.
//
// The goroutine is woken only for an instant earlier than the
// one it sleeps until, and not for a lease that is forgotten. It ends when it
// wakes and finds no live lease, at most a second after the last. One whose lease is
// forgotten before it first looks sleeps once all the same, for the next lease.
//
// # Groups
//
// In a cluster one script renews keys of one slot only. [Options].Group tells the
// watchdog of such limits. Then a batch has leases of one group. A group of no more
// than a batch is renewed together, however early that is for some of it; a larger
// one as all leases are where there are no groups. So the commands of a third are no
// more than groups, and one for each further 25 leases of a group; while leases come,
// some more. One call of the RenewFunc has several groups, as far as they fit as a
// whole. Groups that are renewed by one call are due at one instant, and are sent at
// the pace below even then, so a renewal can be late by up to four slots of the
// schedule, 10 ms of a TTL of 30 s.
//
// # How the load is spread
//
// A server that renews a batch does nothing else meanwhile. So that a crowd
// that was acquired at once is not renewed at once, the third of the TTL is cut
// into 4,096 slots, and a schedule counts the batches that are due in each. A batch
// for whose first renewal there is no room when it is due is renewed in the latest
// slot before that has some, but not within the first 48th of the TTL. Where
// none has, all take one more. Later renewals follow by a third each and
// so keep the spread; only one that came late by more than four slots, or after
// a retry, looks for a place anew, as trouble makes crowds too. With up to 25
// leases a slot, nothing of this is seen. A batch keeps its order, since what the
// server was given together lies together in its memory.
//
// What is late by less than a twelfth of the TTL, because the process stood
// still, is worked off at twice the even pace; beyond that nothing holds
// a renewal back, nor a retry ever.
//
// # Stability
//
// The API of this package may change in any minor version until 1.0. That of package
// rlock does not.
package watchdog
