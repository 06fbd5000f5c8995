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
// The caller decides
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
//
// # When to leave room for others
//
// A queue asks its [Policy] before each attempt: until when to wait, and
// whether to stay subscribed to the channel. The policy learns from a few events:
// an attempt was granted, refused, made; a release was sent or heard; the
// clients were counted. It has two reasons to delay an attempt. The fair
// share leaves room for slower clients, and is what the rest of this page is
// about. The throttle protects a server that a crowd of clients keeps busy with
// attempts that come too late, see throttle.go. Neither does any I/O or has a
// lock or a clock: the caller passes the time and the random numbers.
//
// # Fair share
//
// The fair share has nothing to do with the fair lock, whose order the server keeps.
// The plain lock of this module is unfair: an unlock message wakes one waiter of every
// process, and the first acquire that arrives gets the lock. A waiter in Go sends it in
// a fraction of a millisecond, one in a JVM in about three. So where a lock is never
// free for long, the JVM starves. The protocol is fixed; but a client can step back
// when it has had more than its share.
//
// # A clock that all clients share
//
// Every subscriber sees every release. A [FairShare] counts releases, not
// time: each grant puts its client ahead by one, and each release by
// any client takes off the fair share of one, 1/n among n clients. The rest
// is how far the client is ahead; it is forgotten slowly. A client is not
// ahead because it is quick: only its grants count.
//
// A client that is further ahead than a bound, while others want the lock,
// makes no attempt until its patience has passed since the last release.
// A client that is slow, but quicker than that, gets the lock first. Its release
// lowers the lead of every other client by its share, and a client that is below
// the bound again takes part at once.
//
// The longer the holds are, the lower is the bound: a wait of milliseconds is
// nothing compared to a second, and a dozen releases may take a minute.
//
// Several quick clients step back together without messages: the leads of all
// clients sum to zero, so the clients that get the lock rise and the others fall.
// If all clients are quick, they cannot all be ahead, so one of them always tries.
//
// # What it costs
//
// Stepping back for a client that never comes is waste. So it has a budget: one
// seventieth of the time. A wait that ran out before another client came is paid
// from the budget; a wait that let one in gives a little back.
// Patience adapts between three and eight milliseconds. It goes up after a waste,
// since the other client may be slower than assumed, and slowly down after a wait
// that let a client in.
//
// # What it does not do
//
// A client of one thread that is slower than the patience gets little. If a
// subscriber never tries, quick clients may share unevenly among
// themselves, since a client without budget does not step back. Where locks are held
// for far less than a millisecond, each acquisition of a slow client costs several
// of a quick one. Nothing here changes which client may hold a lock: a FairShare delays
// attempts and never makes one.
//
// # Which names have a fair share
//
// To know how many clients want a lock costs a command. So only a name that this client
// releases many times in a row has a fair share. A [Table] keeps it for at least ten
// seconds after the last release, while names and queues come and go with each lock. The
// throttle is part of the policy and ends with its queue.
package waitqueue
