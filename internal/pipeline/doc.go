// Package pipeline shares one connection among all callers of a client.
//
// A caller queues a Request and may leave; the request does not. If fewer
// than four batches are under way, the caller that flushes cuts a batch from the
// queue and writes it; one goroutine reads the replies in order and completes
// requests. It waits for the server on everybody's behalf, so a caller's
// context ends that caller's wait and nothing else. The one exception is next.
//
// # Which goroutine waits for a write
//
// A caller that flushes writes what the socket takes at once. The rest is left to the
// connection's writer, a goroutine that may wait. So no caller, no watchdog and no reader
// waits for a network that takes nothing. Where it is not known whether a write would
// wait (TLS, a dialer's own connections, those of a pool, other systems than Unix), the
// writer writes all.
//
// # Which goroutine waits for a reply
//
// The reader. But a caller that has a socket to itself reads its own reply, so that no
// goroutine has to be woken for it: see lone.go. It waits like that for four milliseconds
// at the most, in which it does not see that its context has ended, and then leaves the
// wait to the reader.
//
// Nobody polls. While a goroutine polls, its processor of Go's never looks at the
// network, and replies on other connections of the process may come 10 ms late.
//
// # What makes many callers cheap
//
// The reader completes a batch, lets the callers that this woke queue, and
// flushes for them before it looks at the next one or waits for the network;
// meanwhile nobody else flushes. A batch is at most a third of what is queued and
// under way, so that the server has work while callers come back, and is written
// in pieces of 16 KiB in the place of redigo's 4.
//
// # What a completion says
//
// A Request ends exactly once, in one of four ways: with a reply, with the
// server's error, with a [NotSentError] (nothing of it ran), or with a
// [LostError]: it was sent, the connection broke, and whether it ran, or will
// yet run, is open. This package sends twice only what the server answered
// that it did not know, a script. Its maker decides where else a command that did not
// run may go, and passes it to [Pipeline.Resend] of the same pipeline or another.
//
// # A server that moves
//
// A connection may stay with a former master while that server lives. So the maker of
// a command that was answered READONLY calls [Pipeline.GiveUp], which retires the
// connection: commands under way on it are answered, later ones go to the next
// connection. That one is used only if its server is a master or does not say. [Pipeline.Retire] does
// the same for a caller who knows that the address leads elsewhere.
// Node.Connected reports the move, since other connections have to follow. When a node
// must not be used any longer, [Pipeline.Leave] ends its pipeline.
//
// # The kill barrier
//
// Bytes written to a broken connection may still arrive. So each connection
// asks at its start how the server knows it (CLIENT ID and its address), and
// the connection that follows begins with CLIENT KILL ID … ADDR …
// for the one before. Once that is answered, with 1 or with 0, no byte of the
// old connection can run, and [Pipeline.AfterKillBarrier] says so. The
// address is part of it because ids begin again with a restarted server.
// Where the server refuses the command, AfterKillBarrier says that instead.
//
// # Discards
//
// A key that is to be deleted some time soon ([Pipeline.Discard]) rides along
// with the next batch in one DEL with others, or goes alone after 5 ms.
package pipeline
