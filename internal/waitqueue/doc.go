// Package waitqueue decides who of one client tries for one name, and when.
//
// A [Queue] is a pure state machine. It is told what has happened, with the
// time, by calls of its methods: somebody joins or leaves, an attempt was
// granted or refused, a message came, this client released. It then says what
// to do, one [Action] at a time, by [Queue.Next]: make an attempt, tell a
// caller how its wait ended, subscribe, set the timer. It has no goroutine, no
// timer, no connection and no lock of its own, and calls nobody. The caller
// reports what comes of an action by further events. So no decision is made
// inside another one, and every rule can be tested by a list of events and a
// number for the clock.
//
//	q.Message(now)
//	for a := q.Next(now); a.Do != waitqueue.Nothing; a = q.Next(now) {
//		...
//	}
//
// # The queue
//
// The waiters of a name make one attempt at a time, the head's. So the cost of
// a hand-off does not grow with their number (A3). An attempt is made when a
// wake-up is pending: the queue has just formed, a message came, the
// subscription was confirmed (P2), the lease that the server last reported has
// ended (A2), or this client released the lock. The wake-up belongs to the queue
// and not to the head, so it is not lost when the head gives up. Ten messages
// are one wake-up (P3). Where the server keeps the order, as a fair lock's does, each
// owner has a queue of its own: all of them try, and the server says who is next.
//
// A waiter that wants only one attempt, or whose owner may hold the name
// already, is unqueued: its attempt is made at once, outside the queue. If it is
// refused and would wait, it queues. A waiter in the queue is let through when
// its owner comes to hold the name by another call.
//
// Where any number may have the name, whoever comes is unqueued as long as nobody
// waits who was refused. A wake-up lets the head try, and its grant lets the others
// try together, outside the queue.
//
// # Hand-off
//
// When this client releases, the head's acquire follows the unlock in the same
// write. The message of such an unlock is this client's own, and wakes nobody
// here. After many hand-offs in a row, or when the wake policy puts the head
// off, the head waits for the message as other clients do, but not for long.
//
// # Trouble
//
// An attempt that failed in a way that another may mend is made again after a
// pause, which grows. A waiter that was once told "taken" waits on for as long
// as its caller wants. A waiter that never had an answer fails when the trouble
// has lasted for the timeout (A7). An attempt whose outcome is not known is
// open: until it is resolved, nothing else is tried (A5). The queue has the
// trouble of its own attempts, an unqueued waiter that of its own.
//
// # What it does not decide
//
// [wakepolicy.Policy] decides when to leave room for others. The caller decides
// what errors say, who holds what, and whether a grant that comes too late is
// given back; [Queue.Facts] has what an error's text needs. The caller also
// watches a waiter's context and the end of its wait, and reports [Queue.Leave].
//
// # The files
//
// What happens is told by methods in join.go (who comes and goes), outcome.go
// (what became of an attempt), message.go (the channel) and handoff.go (what
// this client released). action.go decides what is due and hands it out;
// timer.go has what is due at an instant. They share what begins and ends an
// attempt or a wait (attempt.go), what asks for the channel (subscription.go)
// and who tries next (wakeup.go). The state is in queue.go, what it is made of
// in waiter.go, and its rules are kind.Traits. A crowd's waiters are found by their
// owner in shared.go, and by the time at which something is due for them in due.go.
// pace.go leaves others room after a grant in vain.
package waitqueue
