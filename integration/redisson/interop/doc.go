// Package interop shows that rlock and real Java Redisson are one lock.
//
// [TestInterop] runs every behaviour against each release that [javapeer.Versions] names, in both directions: exclusion,
// wake-ups and their delay, each side's view of the other's holds, what a forced unlock or a killed holder leaves, and a
// counter in Redis that comes out short if ever two were inside at once. A release has one redis-server and one JVM, shared
// by its behaviours, each with its own lock name:
//
//	go test ./redisson/interop -run 'TestInterop/4.7.0/Plain/JavaWaiterIsWokenByGoUnlock' -v
//
// [TestKindsInterop] does so for spin locks, whose waiters are not woken and must find the free lock themselves; for fair,
// write and fenced locks (both sides' tokens are one sequence); for non-reentrant locks, and for several locks that are
// acquired together. [TestMultiInteropBehindSentinels] shows the last over failovers.
//
// Most behaviours are scripts, in the language of package alike. A script acts on a waiter only once it is known to wait.
// Instants on both sides are read from CLOCK_MONOTONIC, which is System.nanoTime in Java on Linux, so a delay from one
// language to the other is a plain subtraction. The Go process that is killed is the test binary itself, started again.
//
// [TestReplicatedServersChangeTheirRoles] has a master and replicas without Sentinels.
//
// [TestToolShowsJavasLocks] and [TestJavaWaitsForRun] test the command-line tool with Java: it lists Java's locks like
// Go's, and a JVM waits for a lock that `rlock run` holds.
//
// Other packages run the behaviours on any server, by [World].
//
// TestInterop has the newest and the oldest release and counts for 5 s; TestKindsInterop has some of each kind's and counts
// for 2 s. With -full, as in make test-all, both have all that were recorded and count for 30 s.
package interop
