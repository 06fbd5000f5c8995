// Package rlock is Redisson's RLock for Go: a re-entrant lock with a lease, kept in
// Redis. Go and Java processes that name the same lock exclude each other, wake each
// other and see the same owners, counts and leases; nothing changes on the Java side.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/rlock-go/redisson/rlock"
//	)
//
//	func main() {
//		ctx := context.Background()
//		client, err := rlock.Open(ctx, "redis://localhost:6379") // one for each process
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer client.Close()
//		err = client.NewLock("invoices").Do(ctx, func(ctx context.Context) error {
//			fmt.Println("no other process is here")
//			return ctx.Err() // ctx ends early if the lock is lost
//		})
//		if err != nil {
//			log.Print(err)
//		}
//	}
//
// # What it guarantees
//
//   - At most one owner holds a lock at any moment, as long as the server keeps
//     its data, nobody forces the lock, and holders act only while their [Hold]
//     is valid.
//   - [Hold.ValidUntil] says until when a hold is certainly valid, without asking
//     the server. The lease counts from before the acquire or the last renewal
//     was sent, less 1%.
//   - A hold that ends before it is released says so: [Hold.Err] is never late,
//     [Hold.Done] closes, and contexts of [Hold.Context] and [Lock.Do] end with
//     [ErrLeaseLost] as their cause. With [Margin] these end earlier, so that work
//     can stop in time.
//   - A failed acquire holds nothing. If the reply to an acquire or an unlock was
//     lost, the client sends it again, and it counts once. If the client can't
//     find out, the error is [ErrUncertain].
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
//     afterwards: at once, or within two seconds if the lock was taken less than
//     two seconds ago. If the server can't notify the client (before Redis 6.2, or
//     an account without the rights), the holder learns of it at the next renewal,
//     or when a fixed lease ends.
//   - There is no order among the processes that wait, except with
//     [Client.NewFairLock]. Within one client the waiters of a name queue, but a
//     [Lock.TryLock] and a re-entry bypass the queue.
//   - Owners are trusted: a process that knows an [Owner] can enter and release
//     as that owner.
//
// It works with one server, one master behind Sentinels, a cluster, or a master and
// its replicas, see [Open].
//
// # The ideas
//
// Owners instead of threads. In Java the thread owns the lock; a goroutine has no
// identity to ask for. So each acquisition gets its own [Owner], and two
// goroutines exclude each other even through one handle. A caller that wants to
// re-enter names the owner: l.Lock(ctx, rlock.As(hold.Owner())). A nested
// acquisition never shortens what the outer one was promised.
//
// A hold knows its end. A watchdog extends all holds of a client in batches, every
// third of the lease, unless they were taken with [Lease] or have outlived
// [MaxHold].
//
// One queue per name. In one client the waiters of a name make one attempt at a
// time, when a message arrives, when a subscription is confirmed, or when the TTL
// that the server last reported expires. When this client releases, the next
// waiter's acquire follows the unlock in the same write.
//
// Courtesy. A waiter in Go reaches a released lock long before one in a JVM, so a
// client steps back from a lock of which it has had more than its share, see
// [WithCourtesy].
//
// One pipeline with a kill barrier. All callers share one command connection. When
// it breaks, the next one first kills it by CLIENT KILL, so that the server runs no
// more of its commands. Only then does the client decide what to do about those
// without a reply.
//
// An unlock that counts once. An unlock of an owner that nobody else knows may be
// sent any number of times. If others may act as the owner, it stores its result in
// a short-lived key, which a repetition finds.
//
// # What is kept
//
// Later versions keep the names and signatures of this package, and which errors
// [errors.Is] finds in which case; new names may come. They keep what other
// processes see, which is Redisson's, so all versions share their locks. Texts of
// errors, lines of the log, and the commands that a call sends may change. Packages
// codec, pubsub and watchdog may change until 1.0.
//
// # Where to look
//
//	a lock              Client.NewLock, NewFairLock, NewReadWriteLock, NewFencedLock, NewSpinLock, NewNonReentrantLock, NewMultiLock
//	permits             Client.NewPermitSemaphore, PermitSemaphore.Acquire, ..., Permits.Release; Client.NewSemaphore
//	a latch             Client.NewCountDownLatch, CountDownLatch.CountDown, Await
//	a client            Open, New, Option..., Client.Shutdown, Client.Close
//	acquire             Lock.Lock, TryLock, TryLockFor, Do, DoHold; Lease, MaxHold, AtLeast, Margin, Wait, As
//	lead                Lock.Lead
//	while held          Hold.Context, Done, Err, ValidUntil, Extend, Token
//	release             Hold.Unlock; Lock.UnlockAs, ForceUnlock
//	who holds it        Lock.IsLocked, IsHeldBy, HoldCount, RemainTTL, Info
//	owners              Client.NewOwner, Hold.Owner, Owner.String, ParseOwner
//	what went wrong     ErrLocked and the other errors
//
// docs/cookbook.md has whole programs, docs/dev/architecture.md follows a call through
// the packages, and docs/dev/protocol.md describes the commands.
package rlock
