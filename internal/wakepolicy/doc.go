// Package wakepolicy decides when a client tries for a name that others want too.
//
// A wait queue asks its [Policy] before each attempt: not before when, and
// whether to stay on the channel. The policy learns from a handful of events:
// an attempt was granted, refused, made; a release was sent or heard; the
// clients were counted. It has two reasons to put an attempt off. The fair
// share leaves room for slower clients, and is what the rest of this page is
// about. The throttle spares a server that a crowd of clients keeps busy with
// attempts that come too late, see throttle.go. Neither does any I/O or has a
// lock or a clock of its own: the caller passes the time, and what is random.
//
// # Fair share
//
// This is not the fair lock, whose line is the server's. The lock that this module
// speaks is unfair: an unlock message wakes one
// waiter of every process, and the first to ask has the lock. A waiter in Go
// is there in a fraction of a millisecond, one in a JVM in about three; so
// where a lock is never free for long, the JVM starves. The protocol is fixed.
// What a client can do is step back when it has had more than its share.
//
// # The clock that all share
//
// Every subscriber sees every release. A [FairShare] counts in releases, not in
// time: each grant of its own puts its client ahead by one, each release by
// anybody takes off the fair share of one, 1/n among n clients. What is left
// is how far the client is ahead, and it is forgotten slowly. Nobody is far
// ahead for being quick alone: only taking counts.
//
// A client that is further ahead than a bound, while others want the lock,
// makes no attempt until its patience has passed since the last release.
// Whoever is slow, but not slower than that, gets there first; its release
// brings everybody else's lead down by its share, and who is below the bound
// again takes part at once.
//
// The bound is the lower the longer the holds are: a wait of milliseconds is
// nothing beside a second, and a dozen releases may be a minute.
//
// Several quick clients step back together without a word: the leads of all
// clients sum to nothing, so those who take rise while those who don't fall.
// Among quick clients only, not all can be ahead, so somebody always takes.
//
// # What it costs
//
// Stepping back for somebody who never comes is waste, so it has a budget: one
// seventieth of the time. A wait that ran out before anybody else came is paid
// from it, and one that was of use gives a little back.
// Patience itself follows what it meets, between three and eight
// milliseconds: up after a waste, since whoever wants the lock may be slower
// than thought, and slowly down otherwise.
//
// # What it does not do
//
// A client of one thread that is slower than the patience gets little. Beside a
// subscriber that never comes, quick clients may share unevenly among
// themselves, since who has no budget left goes on. Where locks are held
// for far less than a millisecond, each acquisition of a slow client costs several
// of a quick one. Nothing here changes who may hold a lock: a FairShare delays
// attempts and never makes one.
//
// # Who has one
//
// To know how many want a lock costs a command, so only a name that this client
// releases many times in a row has a fair share. It is kept in a [Table] for
// some seconds, while names and queues come and go with each lock. The throttle
// is part of the policy and ends with its queue.
package wakepolicy
