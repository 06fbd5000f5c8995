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
//   - A renewing lease is renewed every third of the TTL, to 25 ns (with groups
//     to four slots of the schedule), or earlier,
//     and has one renewal in flight at most. A failed renewal is repeated while trust
//     lasts. After a lease's renewUntil none starts.
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
// # What is not
//
// The watchdog does not order commands. An answer sets the expiry that it
// carries, as a PEXPIRE sets a TTL, even to an earlier one; that no other
// command of the same owner overtakes it is up to the caller, who can answer
// Busy. And being told is as fast as the scheduler, or after a suspend as
// MaxSleep, allows; what must not be late has to read the clock.
//
// # How it is cheap
//
// Three heaps order the leases by their next instant: those that wait for
// their renewal, those that wait for a retry, and the others, by expiry or
// alarm. Each lease is in one of them and knows its place, so taking it out
// needs no search. A lease that has just become live is in none: it is put at the
// end of a short list, and gets its place in a heap when the goroutine looks, when
// a hundred more have come, or when its terms change. Most are forgotten before.
// The goroutine is woken only for an instant earlier than the
// one it sleeps until, and not for a lease that is forgotten. It ends when it
// wakes and finds no live lease, at most MaxSleep after the last. One whose lease is
// forgotten before it first looks sleeps once all the same, for the next lease.
//
// When a renewal is due, the batch is filled with those that come next, up to
// [MaxBatch], as far as a sixth of the TTL ahead. Leases that were acquired
// one by one are thus gathered within the first third and stay together, as
// they are timed by the same send: n leases cost n/25 batches each third,
// rounded up. Retries travel in batches of their own, so that a lease whose
// renewal always fails can neither spoil the batches of others nor draw them
// in ahead of time.
//
// # Groups
//
// In a cluster one script renews keys of one slot only. [Options].Group tells the
// watchdog of such limits. Then the leases of a group are renewed together: a
// lease gets the renewal time of its group, which is earlier than its own, and
// whoever is due takes the others of its group along, however early that is for
// them. Groups of more than a batch have several such times. So the commands
// of a third are no more than groups, and one for each further 25 leases of
// a group; while leases come, some more. A group is an entry of a heap of groups, with a heap of
// its leases; like any place it is given when a lease stops being new, not when
// it becomes live. Where a group grows and too many others are due at its time,
// the whole group moves to an earlier one.
//
// A batch has whole groups, as splitting one would be a command more. Where many
// come during a third, a renewal can thus be late by up to four slots of the
// schedule (see below), 10 ms of a TTL of 30 s.
//
// # How the load is spread
//
// A server that renews a batch does nothing else meanwhile. So that a crowd
// that was acquired at once is not renewed at once, the third of the TTL is cut
// into 4,096 slots, and a schedule counts what is due in each. A lease for
// whose first renewal there is no room when it is due is renewed in the latest
// slot before that has some, but not within the first 48th of the TTL. Where
// none has, all take 25 more. Later renewals follow by a third each and
// so keep the spread; only one that came late by more than four slots, or after
// a retry, looks for a place anew, as trouble makes crowds too. With up to 25
// leases a slot, nothing of this is seen.
//
// With more than 25 leases a batch keeps the order in which its leases
// came, by a nanosecond each, since what the server was given together lies
// together.
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
