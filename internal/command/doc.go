// Package command decides what becomes of each command that a client sends.
//
// A [Request] ends in one of six ways, its [Fate]: it was answered, the server
// refused it, it was not sent, it was lost, it was taken back, or the client was closed
// before it was sent. Nobody else looks at a server's error or at the end of a
// connection; package refusal knows the codes.
//
// Whoever sends one waits for it: [Executor.Do] is all of that, [Executor.Await] the end
// of one send, and [Executor.Barrier] what must follow where it was lost. Commands that
// many send at a time have a [Handler]: plain answers are told to it in the order of the
// replies, and only one that meets trouble goes on in a goroutine, which waits as others
// do.
//
// A request goes to the node that serves its slot, which package topology knows.
// The answers that say otherwise are seen here alone, see redirect.go.
//
// Three ideas make a fate trustworthy:
//   - A lost command is final only behind a kill barrier: the server was asked
//     to end the connection that the command was written to, or it is known
//     that this can't be had. Until then bytes of it may still run.
//   - What may be sent again is a property of the request, its [Resend]. The
//     executor sends it again, after a barrier or a pause, until its limit. Where other
//     commands of its owner may go first, its maker does that by [Executor.Enqueue].
//   - What was never written can be taken back, see [Executor.Cancel].
package command
