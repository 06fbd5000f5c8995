// Package rlock is Redisson's RLock for Go: a re-entrant lock with a lease,
// kept in Redis. Go and Java processes that name the same lock exclude each
// other, wake each other and see the same owners, counts and leases; nothing
// changes on the Java side.
//
//	client, err := rlock.Open(ctx, "redis://localhost:6379")
//	...
//	err = client.NewLock("invoices").Do(ctx, func(ctx context.Context) error {
//		return settle(ctx) // ctx ends early if the lock is lost
//	})
//
// # What it guarantees
//
//   - At most one owner holds a lock at any moment, as long as the server keeps
//     its data, nobody forces the lock, and holders act only while their [Hold]
//     is valid.
//   - [Hold.ValidUntil] says until when a hold is certainly valid, without asking
//     the server. The lease counts from before the acquire or the last renewal
//     was sent, on a clock that runs through suspend where the system has one,
//     less 1%.
//   - A hold that ends before it is released says so: [Hold.Err] is never late,
//     [Hold.Done] closes, and contexts of [Hold.Context] and [Lock.Do] end with
//     [ErrLeaseLost] as their cause.
//   - A failed acquire holds nothing. If its reply was lost, the client undoes it
//     before the next attempt. If an unlock's reply was lost, the client sends it
//     again, and it counts once. If the client can't find out, the error is
//     [ErrUncertain].
//   - A lost wake-up message makes a wait longer, not endless.
//   - [Client.Close] leaves no goroutine, connection or subscription behind.
//
// # What it does not
//
//   - A lease ends whether or not its holder still works. A process that was
//     paused for longer than its lease may act before it checks its hold. Where
//     that matters, the resource must refuse an older fencing token, see
//     [Hold.Token].
//   - A failover that loses the key, FLUSHALL, DEL and a [Lock.ForceUnlock] in
//     another process take the lock from its holder. The holder learns of it
//     afterwards: at once; within two seconds for a lock taken moments ago. If the
//     server can't notify the client (before Redis 6.2, or an account without the
//     rights), the holder learns of it at the next renewal, or when a fixed lease
//     ends.
//   - There is no order among the processes that wait, except with
//     [Client.NewFairLock]: the first command that the server gets after a release
//     takes the lock. A client that had more than its share steps back for slower
//     ones, see [WithCourtesy]. Within one client the waiters of a name queue, but
//     a [Lock.TryLock] and a re-entry bypass the queue.
//   - Owners are trusted: a process that knows an [Owner] can enter and release
//     as that owner.
//   - It works only with one server (a redis:// or rediss:// URL, or a pool),
//     one master behind Sentinels (redis+sentinel://), or a cluster
//     (redis+cluster://). Of Redisson's other locks it has
//     [Client.NewFairLock], [Client.NewReadWriteLock], [Client.NewSpinLock],
//     [Client.NewFencedLock], [Client.NewNonReentrantLock] and [NewMultiLock],
//     and also [Client.NewPermitSemaphore], [Client.NewSemaphore] and
//     [Client.NewCountDownLatch].
//
// # The ideas
//
// Owners instead of threads. In Java the thread owns the lock; a goroutine has no
// identity to ask for. So each acquisition gets its own [Owner], and two
// goroutines exclude each other even through one handle. A caller that wants to
// re-enter names the owner: l.Lock(ctx, rlock.As(hold.Owner())). Each owner has
// one count and one lease of a lock, so a nested acquisition never shortens what
// the outer one was promised.
//
// A hold knows its end. An acquisition returns a [Hold], with the end of its
// lease, its error and a context, so that the caller can always know whether it
// still holds the lock. A watchdog extends all holds of a client in batches,
// every third of the lease, unless they were taken with [Lease] or have
// outlived [MaxHold].
//
// One queue per name. In one client the waiters of a name make one attempt at a
// time, that of the first waiter; readers try together once one of them has the
// lock. The client makes an attempt when a message arrives, when a subscription is
// confirmed, or when the TTL that the server last reported expires. A wake-up
// belongs to the queue, so it is not lost when a waiter leaves. All names share
// one subscription connection. When this client releases, the next waiter's
// acquire follows the unlock in the same write, so the lock changes hands within a
// client in one round trip. The number of such hand-offs in a row is limited,
// because no other client can get the lock in between. When many clients pass a
// lock on very fast, the server spends most of its time publishing releases. So
// clients with courtesy count the subscribers, and sometimes unsubscribe and poll
// for a moment.
//
// Courtesy. A waiter in Go reaches a released lock long before one in a JVM. So
// for a lock that others want, a client counts how many releases it is ahead of
// its fair share. If it is too far ahead, it makes no attempt for some
// milliseconds after a release. [WithCourtesy] turns this off;
// docs/performance.md has the figures.
//
// One pipeline with a kill barrier. All callers share one command connection,
// which sends and receives at the same time. A caller's context ends that
// caller's wait and nothing else. When the connection breaks, the next one first
// kills it by CLIENT KILL. After that the server runs no more of its commands,
// and only then does the client decide what to do about those without a reply.
// If the server refuses CLIENT KILL or CLIENT ID, the client repeats the undo of
// a lost acquire every second for a lease.
//
// An unlock that counts once. Most owners are used for one acquisition and never
// shown to anybody. An unlock of such an owner may be sent any number of times:
// once the owner's field is gone, it changes nothing. If others may act as the
// owner, the unlock stores its result in a short-lived key, a latch. If the
// reply is lost, the client sends the same unlock again, which finds the latch,
// changes nothing and gets the same answer.
//
// # Where to look
//
//	a lock              Client.NewLock, NewFairLock, NewReadWriteLock, NewFencedLock, NewSpinLock, NewNonReentrantLock
//	permits             Client.NewPermitSemaphore, PermitSemaphore.Acquire, ..., Permits.Release; Client.NewSemaphore
//	a latch             Client.NewCountDownLatch, CountDownLatch.CountDown, Await
//	a client            Open, New, Option..., Client.Shutdown, Client.Close
//	acquire             Lock.Lock, TryLock, TryLockFor, Do, DoHold; Lease, MaxHold, AtLeast, Wait, As
//	lead                Lock.Lead
//	while held          Hold.Context, Done, Err, ValidUntil, Extend, Token
//	release             Hold.Unlock; Lock.UnlockAs, ForceUnlock
//	who holds it        Lock.IsLocked, IsHeldBy, HoldCount, RemainTTL, Info
//	owners              Client.NewOwner, Hold.Owner, Owner.String, ParseOwner
//	what went wrong     ErrLocked and the other errors
//
// Inside: this package checks arguments, and names the call and the lock in
// errors. The packages below keep what a client knows of its locks, and decide each
// acquire, hold and release; the doc comment of internal/lockstate lists them. Tests
// run the functions' examples. docs/cookbook.md has whole programs,
// docs/dev/architecture.md follows a call through the packages, and
// docs/dev/protocol.md describes the commands.
package rlock
