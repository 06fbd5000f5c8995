// Package pubsub, whose API may change in any minor version until 1.0, lets any
// number of waiters share one subscription connection to a Redis server.
//
// A [Hub] gets a function that dials. It opens one connection at the first
// [Hub.Subscribe] and keeps it until [Hub.Close]; all later subscriptions use the
// same connection. The hub counts the waiters of each channel. The first one causes
// a SUBSCRIBE, the last one to leave an UNSUBSCRIBE. Without waiters nothing stays
// subscribed.
//
// # What a waiter may rely on
//
// Redis does not store published messages, so a message alone is never enough. A
// [Waker] therefore has a method Confirmed beside Message. It says: from now on
// messages arrive; earlier ones may have been missed, so look now. It is called after
// Subscribe, and again after every reconnect, for every waiter of every channel. A
// waiter that looks at each call notices a change as soon as the connection is back,
// at the latest. A message never comes before the first Confirmed.
//
// If a waiter can't be served, Refused is called once: the server's ACL forbids the
// channel, or there was an error that Options.Permanent calls permanent. Everything
// else is retried while there are waiters, with growing and random pauses.
//
// A Waker must not block. If all three methods do a non-blocking send to a channel
// with room for one, a slow waiter delays nothing: if the channel is full, a wake-up
// is already pending.
//
// # How it works
//
// The hub compares what is wanted with what was sent. It knows of each channel whether
// it has waiters, whether the last command sent for it was a SUBSCRIBE, and how many
// commands for it are unanswered. A change marks the channel. The writer takes all
// marked channels, leaves out those that have changed back, and sends the rest as one
// SUBSCRIBE and one UNSUBSCRIBE of up to a thousand channels. A server answers in
// order, so the hub queues what it sent and matches each answer with the head of the
// queue. Only the answer to the last command sent for a channel confirms it: the late
// answer to a SUBSCRIBE that was followed by an UNSUBSCRIBE and another SUBSCRIBE
// confirms nothing. An error answers a whole command and does not name the channel
// that caused it. So the hub sends the channels of that command again one by one.
//
// Two goroutines serve a connection: one dials, reads, and dials again; one writes, and
// watches the connection. An idle connection gets a PING after half of Options.Timeout.
// A connection that is silent for all of it, or that leaves a command unanswered for
// longer, is given up. There is no goroutine and no timer for a channel or a waiter.
//
// The hub does not hold its lock while it calls a Waker, and never calls a Waker from
// inside Subscribe or Close. So a Waker may subscribe and unsubscribe, and its owner may
// do both while it holds a lock that the Waker takes.
//
// # What it does not do
//
// It stores no messages and guarantees none: a server, a proxy or a broken connection
// may lose them. It does not subscribe to patterns. Answers are decoded by redigo,
// whose parser trusts lengths: a DialFunc for servers that are not trusted must limit
// the replies.
package pubsub
