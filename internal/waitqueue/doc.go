// Package waitqueue decides which of a client's waiters for a name tries, and when.
//
// A [Queue] is a pure state machine. The caller reports what has happened, with the
// time, by calls of its methods: a waiter joins or leaves, an attempt was granted or
// refused, a message came, this client released. [Queue.Next] then says what to do,
// one [Action] at a time: make an attempt, return a result to a waiter's caller,
// subscribe, set the timer. The queue has no goroutine, timer, connection or lock, and
// calls no other code. The caller reports the outcome of an action by further events.
// So no decision is made inside another one, and every rule can be tested with a list
// of events and a number for the clock.
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
// are one wake-up (P3). Where the server keeps the order, as for a fair lock, each
// owner has its own queue: all of them try, and the server decides which is next.
//
// A waiter that wants only one attempt, or whose owner may hold the name
// already, is unqueued: its attempt is made at once, outside the queue. If it is
// refused and wants to wait, it queues. A waiter in the queue is let through when
// its owner comes to hold the name by another call.
//
// Where any number of owners may have the name, a new waiter is unqueued while no
// refused waiter waits. A wake-up lets the head try. If it is granted, the others try
// together, outside the queue.
//
// # Hand-off
//
// When this client releases, the head's acquire follows the unlock in the same
// write. The message of such an unlock is this client's own, and wakes no waiter
// here. After many hand-offs in a row, or when the wake policy delays the head,
// the head waits for the message as other clients do, but not for long.
//
// # Trouble
//
// An attempt that failed with an error that may pass is repeated after a pause, which
// grows each time. A waiter whose attempt was once answered "taken" waits on until its
// caller gives up. A waiter that never had an answer fails when the trouble has lasted
// for the timeout (A7). An attempt with an unknown outcome is open: until it is
// resolved, no other is made (A5). Trouble of the queue's attempts counts for the
// queue, and trouble of an unqueued waiter's attempts for that waiter.
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
// The events are methods in join.go (waiters come and go), outcome.go (the outcome of
// an attempt), message.go (the channel) and handoff.go (this client's releases).
// action.go decides what is due and hands it out; timer.go handles what is due at an
// instant. They share the begin and end of an attempt or a wait (attempt.go), the
// requests for the channel (subscription.go) and the choice of the next waiter
// (wakeup.go). The state is in queue.go, its parts in waiter.go, and its rules are
// kind.Traits. shared.go finds waiters by their owner, and due.go by the time at which
// something is due for them. pace.go leaves room for other clients after a grant that
// was given back.
package waitqueue
