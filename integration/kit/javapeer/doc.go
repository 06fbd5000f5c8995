// Package javapeer lets a Go test drive real Redisson.
//
// A [Peer] is a JVM with one Redisson client of a chosen version. It is built from integration/kit/java at first use,
// and gets its commands over a pipe. Redisson's lock owner is a thread, so each command names one: a [Thread] runs its
// commands in order, and different threads run concurrently. A method blocks until Java answers; call methods from
// several goroutines to have several in flight.
//
//	server := redistest.Start(t)
//	java := javapeer.Start(t, javapeer.Newest, server.Addr())
//	t1 := java.Thread("t1")
//	_, err := t1.Lock(t.Context(), "orders", javapeer.Watchdog)
//
// Every reply has the time at which the Java call returned, on the clock that [machineclock.Now] reads. A delay from a
// Go event to a Java event, or back, is thus a subtraction that pipes and schedulers do not distort.
//
// The context of a method bounds Go's wait only: when it ends, the method returns its error and Java goes on with the
// command. [Thread.Interrupt] makes Java stop.
//
// A peer ends with its test: it is asked to quit, and killed if it does not. It also ends when the test process dies
// for any reason.
package javapeer
