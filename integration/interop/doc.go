// Package interop shows that rlock and real Java Redisson are one lock.
//
// [TestInterop] runs every behaviour against each release that [javapeer.Versions] names, in both directions: who is kept out,
// who is woken and how fast, what either side sees of the other's holds, what a forced or a killed holder leaves, and
// a counter in Redis that comes out short if ever two were inside at once. A release has one redis-server and one JVM,
// shared by its behaviours, each of which has a lock name of its own:
//
//	go test ./interop -run 'TestInterop/4.7.0/JavaWaiterIsWokenByGoUnlock' -v
//
// [TestSpinInterop] does so for spin locks. There nobody is woken: a waiter has to come by itself when the lock is free.
// [TestFairInterop] does so for fair locks.
//
// [TestMultiInterop] shows several locks that are acquired together, and [TestMultiInteropBehindSentinels] so over failovers;
// [TestFencedInterop] shows fenced locks, and that the tokens of both sides are one sequence;
// [TestNonReentrantInterop] locks whose owner is refused.
//
// A waiter is acted on only when it is known to wait: the server counts a subscriber on the lock's channel, and the
// second try after it was refused; of a spin lock, its refusals. Instants on both sides are read from CLOCK_MONOTONIC,
// which is System.nanoTime in Java on Linux, so a delay from one language to the other is a plain subtraction.
//
// Go processes that count or are killed are the test binary itself, started again with an order in its environment.
//
// [World] shows behaviours to other packages, on any server.
//
// The releases are the newest and the oldest, and counting lasts 5 s; those of spin locks are [javapeer.SpinVersions], with
// 2 s. With -full, as in make test-all, they are all that were recorded, and it lasts 30 s.
package interop
