// Package wakepolicy decides when a client tries for a name that other clients want too.
//
// A wait queue asks its [Policy] before each attempt: until when to wait, and
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
package wakepolicy
