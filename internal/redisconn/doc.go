// Package redisconn makes connections for the pipeline and for the hub.
//
// It parses the URLs that Open accepts, dials them, and borrows from a caller's
// pool. Either way the result is a redigo connection, authenticated and on its
// database. A dial that ignores its context does not delay its caller (late.go).
// While a pipeline or a hub uses a connection it is [Owned]: any goroutine can
// interrupt it, and it is given back once. [Link] makes one connection after the
// other, and [Backoff] spaces its attempts.
//
// A dialled connection is a [Conn], which is used like redigo's. redigo would trust
// every length that a server names; Conn ends with an error at a reply that is beyond
// its bounds (reply.go). The pipeline, which always reads, receives by [Conn.Fill] and
// [Conn.Next], and sends by [Conn.Queue] and [Conn.Push].
//
// A TCP or Unix socket of the net package is read and written by system calls that don't
// wait for the network and that bypass Go's scheduler (socket_unix.go). If a sandbox
// forbids these, the calls of net.Conn are used. The build tag norawsyscall leaves them
// out, and a [Conn.Fill] without waiting with them: a connection then works as it does under TLS.
//
// It is the only package that knows the codes of a server's errors. A [Refusal] has the
// server's text and says what follows from it: whether any of the command ran, whether the
// same command may succeed later, and whether it needs another connection.
//
// The package also reads what a server says about itself ([Server]), and tells
// whether a host name still resolves to the address of its connections
// ([Target.Strays]).
package redisconn
