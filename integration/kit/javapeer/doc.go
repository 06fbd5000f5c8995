// Package javapeer lets a Go test drive real Redisson.
//
// A [Peer] is a JVM with one Redisson client, version of the test's choice, built from integration/kit/java at first use
// and told over a pipe what to do. Redisson's lock owner is a thread, so commands name one: a [Thread] runs what it is
// given in order, different threads run concurrently. A method blocks until Java answers; to have several in flight call
// them from goroutines.
//
//	server := redistest.Start(t)
//	java := javapeer.Start(t, javapeer.Newest, server.Addr())
//	t1 := java.Thread("t1")
//	_, err := t1.Lock(t.Context(), "orders", javapeer.Watchdog)
//
// Every answer carries the instant at which the Java call returned, on the clock that [machineclock.Now] reads, so a
// delay from a Go event to a Java one, or back, is a subtraction that pipes and schedulers do not blur.
//
// What the context of a method bounds is Go's wait: when it ends, the method returns its error and Java goes on with the
// command. [Thread.Interrupt] is how Java is asked to stop.
//
// A peer ends with its test: it is asked to quit, and killed if it does not. It
// also ends when the test process dies in whatever way.
package javapeer
