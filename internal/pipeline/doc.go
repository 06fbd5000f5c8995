// Package pipeline shares one connection among all callers of a client.
//
// A caller queues a Request, which lives on if the caller gives up. If fewer
// than four batches are in flight, the caller that flushes cuts a batch from the
// queue and writes it. One goroutine, the reader, reads the replies in order and
// completes the requests. It waits for the server for all callers, so a caller's
// context ends only that caller's wait. There is one exception, see below.
//
// # Which goroutine waits for a write
//
// A caller that flushes writes as much as the socket takes at once. It leaves the rest to
// the connection's writer, a goroutine that may wait. So no caller, no watchdog and no
// reader waits for a stalled network. Where the client can't know whether a write would
// wait, the writer writes everything: TLS, connections of a custom dialer or of a pool,
// systems other than Unix.
//
// # Which goroutine waits for a reply
//
// The reader does. But a caller that has a socket to itself reads its own reply, so that no
// goroutine has to be woken for it: see lone.go. It reads for four milliseconds at the
// most, during which it does not see that its context has ended. Then the reader takes
// over.
//
// No goroutine polls. While one polls, its Go processor never looks at the network, and
// replies on other connections of the process may come 10 ms late.
//
// # What makes many callers cheap
//
// The reader completes a batch, lets the callers that it woke queue their next requests,
// and flushes for them before it reads the next batch or waits for the network; meanwhile
// no caller flushes. A batch is at most a third of the requests queued and in flight, so
// that the server has work while callers come back. It is written in pieces of 16 KiB;
// redigo's are 4 KiB.
//
// # What a completion says
//
// A Request ends exactly once, in one of four ways: with a reply, with the
// server's error, with a [NotSentError] (nothing of it ran), or with a
// [LostError]: it was sent, the connection broke, and it may have run or may
// still run. This package repeats a request only if the server answered that it did
// not know the script. Its maker decides where else a command that did not
// run may go, and passes it to [Pipeline.Enqueue] of the same pipeline or another.
//
// # A server that moves
//
// A connection may stay with a former master while that server lives. So the maker of a
// command that was answered READONLY calls [Pipeline.GiveUp], which retires the
// connection: commands in flight on it are answered, later ones go to the next connection.
// The next one is used only if its server is a master or does not say. [Pipeline.Retire]
// does the same for a caller that knows that the address leads elsewhere. Node.Connected
// reports the move, since other connections have to follow. When a node must no longer be
// used, [Pipeline.Abandon] ends its pipeline.
//
// # The kill barrier
//
// Bytes written to a broken connection may still arrive. So each connection
// first asks for the server's name of it (CLIENT ID and its address), and
// the next connection begins with CLIENT KILL ID … ADDR … for the one before.
// Once the server has answered, with 1 or with 0, no byte of the old connection
// can run, and [Pipeline.AfterKillBarrier] says so. The command names the address
// because a restarted server counts its ids from the start again. If the server
// refuses the command, AfterKillBarrier says that instead.
//
// # Discards
//
// A key that may be deleted a little later ([Pipeline.Discard]) goes with the
// next batch, in one DEL with others, or alone after 5 ms.
package pipeline
