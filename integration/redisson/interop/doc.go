// Package interop shows that rlock and real Java Redisson are one lock.
//
// [TestInterop] runs every behaviour against each release that [javapeer.Versions] names, in both directions: who is kept out,
// who is woken and how fast, what either side sees of the other's holds, what a forced or a killed holder leaves, and
// a counter in Redis that comes out short if ever two were inside at once. A release has one redis-server and one JVM,
// shared by its behaviours, each of which has a lock name of its own:
//
//	go test ./redisson/interop -run 'TestInterop/4.7.0/Plain/JavaWaiterIsWokenByGoUnlock' -v
//
// [TestKindsInterop] does so for spin locks, where nobody is woken: a waiter has to come by itself when the lock is free; for
// fair, write and fenced locks, whose tokens of both sides are one sequence; for locks whose owner is refused, and for several
// that are acquired together. [TestMultiInteropBehindSentinels] shows these over failovers.
//
// Most are scripts of package alike, which has the language. A waiter is acted on only when it is known to wait. Instants on
// both sides are read from CLOCK_MONOTONIC, which is System.nanoTime in Java on Linux, so a delay from one language to the
// other is a plain subtraction. The Go process that is killed is the test binary itself, started again.
//
// [TestToolShowsJavasLocks] and [TestJavaWaitsForRun] show the command-line tool beside Java: Java's locks are listed as Go's
// are, and a JVM waits for a lock that `rlock run` holds.
//
// [World] shows behaviours to other packages, on any server.
//
// The releases are the newest and the oldest, and counting lasts 5 s; those of spin locks are [javapeer.SpinVersions], with
// 2 s. With -full, as in make test-all, they are all that were recorded, and it lasts 30 s.
package interop
