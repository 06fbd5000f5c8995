// Package command decides what becomes of each command that a client sends.
//
// A [Request] ends in one of five ways, its [Fate]: it was answered, the server
// refused it, it was not sent, it was lost, or the client was closed before it
// was sent. Nobody else looks at a server's error or at the end of a
// connection; package refusal knows the codes.
//
// A request goes to the node that serves its slot, which package topology knows.
// The answers that say otherwise are seen here alone, see redirect.go.
//
// Three ideas make a fate trustworthy:
//   - A lost command is final only behind a kill barrier: the server was asked
//     to end the connection that the command was written to, or it is known
//     that this can't be had. Until then bytes of it may still run. Its
//     [Handler] hears of the loss at once, and of the fate afterwards.
//   - What may be sent again is a property of the request, its [Resend]. The
//     executor sends it again, after a barrier or a pause, until its limit; the
//     handler only says when, since other commands of its owner may go first.
//   - What was never written can be taken back, see [Executor.Cancel].
package command
