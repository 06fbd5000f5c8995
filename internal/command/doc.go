// Package command decides what becomes of each command that a client sends.
//
// A [Request] ends in one of six ways, its [Fate]: it was answered, the server
// refused it, it was not sent, it was lost, it was taken back, or the client was closed
// before it was sent. No other package interprets a server's error or the end of a
// connection; package redisconn knows the codes.
//
// A caller sends a request and waits for it with [Executor.Do]. Its steps are
// [Executor.Await], which waits for the end of one send, and [Executor.Barrier], which
// must follow a loss. Commands that are sent in large numbers have a [Handler] instead.
// It takes plain answers in the order of the replies. Only a request that meets trouble
// gets a goroutine, which waits as a caller does.
//
// A request goes to the node that serves its slot, which package topology knows.
// Only this package sees the answers that redirect a request, see redirect.go.
//
// Three ideas make a fate trustworthy:
//   - A lost command is final only after its kill barrier: the server has ended the
//     connection that the command was written to, or it is known that this can't be
//     achieved. Until then bytes of the command may still run.
//   - Whether a request may be sent again is its property [Request.Resend]. The
//     executor sends it again, after a barrier or a pause, until its limit. If other
//     commands of its owner may go first, its maker calls [Executor.Enqueue] instead.
//   - A request that was never written can be taken back, see [Executor.Cancel].
package command
