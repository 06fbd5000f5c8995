// Package pubsub lets any number of waiters share one subscription connection
// to a Redis server.
//
// A [Hub] is given a function that dials. It opens one connection at the first
// [Hub.Subscribe] and keeps it until [Hub.Close]; whatever is subscribed later
// travels over the same connection. A channel is counted: the first waiter of a
// channel causes its SUBSCRIBE, the last one that leaves causes its UNSUBSCRIBE,
// and when nobody waits nothing is left subscribed.
//
// # What a waiter may rely on
//
// Publishing is fire and forget, so a message alone is never enough. A [Waker]
// therefore has two methods: Message, and Confirmed, which says "from now on
// you will hear; whatever was published before is gone, so look now". Confirmed
// comes after Subscribe, and again after every reconnect, for every waiter
// of every channel. A waiter that looks at each call misses nothing for longer
// than the connection is away. A message never comes before the first Confirmed.
//
// For a waiter that can't be served Refused is called, once: the server's ACL forbids
// the channel, or dialling failed in a way that Options.Permanent calls hopeless.
// Everything else is retried, with growing and random pauses, for as long as
// somebody waits.
//
// A Waker must not block. One that turns all three into a send to a channel with
// room for one never waits for a slow waiter: if the channel is full, a wake-up is
// already pending.
//
// # How it works
//
// The hub compares what is wanted with what was sent. Each channel knows whether
// somebody wants it, whether the last command sent for it was a SUBSCRIBE, and how
// many commands for it are unanswered. A change marks the channel; the writer takes
// all marked channels, leaves out those whose change has undone itself, and
// sends the rest as one SUBSCRIBE and one UNSUBSCRIBE of up to a thousand channels.
// A server answers in order, so the hub keeps what it sent in a queue and holds
// each answer against its head. A channel is confirmed only by the answer to the
// last command sent for it: the late answer to a SUBSCRIBE that was followed by
// an UNSUBSCRIBE and another SUBSCRIBE confirms nothing. An error answers a whole
// command and doesn't say which channel was meant; the channels of such a command
// are sent again one by one, which finds the one that was meant.
//
// Two goroutines serve a connection: one dials, reads, and dials again; one writes, and
// watches over the connection. An idle connection is sent
// PING after half of Options.Timeout. One that is silent for all of it, or leaves
// a command unanswered that long, is given up. There is no goroutine and no
// timer for a channel or a waiter.
//
// The hub's lock is never held while a Waker is called, and no Waker
// is called while its owner is inside Subscribe or Close. So a Waker may subscribe and
// unsubscribe, and its owner may hold a lock while doing so that the Waker takes too.
//
// # What it does not do
//
// It keeps no message, and it promises none: a server, a proxy or a broken connection
// may lose them. It does not subscribe to patterns. Answers are decoded by
// redigo, whose parser trusts lengths: a dialler for servers that are not trusted
// limits what it lets through.
//
// # Stability
//
// The API of this package may change in any minor version until 1.0. That of package
// rlock does not.
package pubsub
