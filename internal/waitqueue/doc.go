// Package waitqueue decides who of one client tries for one name, and when.
//
// A [Queue] is a pure state machine. It is told what has happened, with the
// time, by calls of its methods: somebody joins or leaves, an attempt was
// granted or refused, a message came, this client released. It then says what
// to do, one [Action] at a time, by [Queue.Next]: make an attempt, tell a
// caller how its wait ended, subscribe, set the timer. It has no goroutine, no
// timer, no connection and no lock of its own, and calls nobody. The caller
// reports what comes of an action by further events, so no decision is ever
// made inside another one, and every rule here can be tested by a list of
// events and a number for the clock.
//
//	q.Message(now)
//	for a := q.Next(now); a.Do != waitqueue.Nothing; a = q.Next(now) {
//		...
//	}
//
// # The queue
//
// All who wait for the name make one attempt at a time, the first one's, so
// what a hand-off costs does not grow with the waiters (A3). An attempt is made
// when something says that a look is worth while: the queue has just formed, a
// message came, the subscription was confirmed (P2), the lease that was last
// heard of has ended (A2), or one of this client released. That something is
// the queue's and not the head's, so a head that gives up takes nothing with
// it. A message is a flag: ten of them make one look (P3).
//
// Whoever wants only one attempt, or may hold the name already, tries outside
// the queue, and queues only if it is refused and would wait. One who queues is
// let through when its owner comes to hold the name by another call.
//
// # Hand-off
//
// When this client releases, the head's acquire follows the unlock in the same
// write. The message of such an unlock says nothing new to this client. After
// many hand-offs in a row, or when the wake policy has the client step back, the
// head waits for the message like everybody else, but not for long.
//
// # Trouble
//
// An attempt that failed in a way that trying again may mend is made again
// after a pause that grows. A wait that was once told "taken" goes on for as
// long as its caller wants; one that was never answered ends when trouble has
// lasted for the timeout (A7). An attempt whose outcome is not known keeps its
// place: nothing else is tried until that is resolved (A5). The trouble of the
// queue's attempts is the queue's, that of an attempt outside it its waiter's.
//
// # What it does not decide
//
// When to hold back in favour of others is [wakepolicy.Policy]'s. What the
// errors say, who holds what, and whether a grant that comes too late is given
// back is the caller's; [Queue.Facts] has what the wording needs. A waiter's
// context and its timer are the caller's too: it reports [Queue.Leave].
package waitqueue
