// Package waiting has who waits for a name, and carries out what its queues decide.
//
// A [Line] belongs to one name. It has a [Queue] for each sort of waiters: one for those of a
// plain lock, one for readers, and where the server keeps the order, one for each owner.
// Package waitqueue decides which waiter tries, and when; here are the timer and the
// subscriptions that it asks for. Attempts are made elsewhere: a queue tells the waiter's
// [Caller] to try, or that its wait has ended. A line knows no owner's state, no hold and no
// lease.
//
// Each event goes to a queue, and [Line.Step] must follow. It does what the queues with an event
// ask for, until they ask for nothing. All of it happens in the section of the line's [Shard].
//
// A waiter that is alone gets its queue only when something other than its own attempt happens
// ([Line.Alone]).
//
// # Subscriptions
//
// A queue listens on its kind's channel at the node of its slot, through the node's hub; in a
// cluster on two kinds of channel. While it has subscribed and is not listening yet, or has lost
// its subscription, nobody tells it of a release, so its head looks once a second, or less often
// if there are more than a thousand such queues. When the slot moves, [Queue.Resubscribe]
// follows.
//
// # Places on the server
//
// Where the server keeps the order, a waiter that gives up leaves the server's queue
// ([Line.Leave]). Many that leave at once share a script: its cost grows with the length of the
// server's queue.
//
// # Courtesy
//
// A name that this client releases often has a fair share ([waitqueue.FairShare]), which
// holds the client's own waiters back for slower clients. [Line.NoteRelease] counts the releases, and
// asks the server now and then how many clients listen.
package waiting
