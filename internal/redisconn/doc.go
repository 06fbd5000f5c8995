// Package redisconn makes connections for the pipeline and for the hub.
//
// It reads the URLs that Open accepts, dials them, and borrows from a caller's
// pool. What comes out is a redigo connection, authenticated and on its
// database. A dial that does not heed its context keeps nobody waiting
// ([Punctual]). While somebody has a connection it is [Owned]: it can be broken
// off from any goroutine, and is given back once. [Backoff] spaces the attempts
// when there is none.
//
// A dialled connection is a [Conn], which is used as one of redigo's is. redigo's own
// would believe every length that a server names; Conn reads no reply that is beyond its
// bounds (reply.go). The pipeline, which waits for nothing in particular, receives by
// [Conn.Fill] and [Conn.Next], and sends by [Conn.Queue] and [Conn.Push].
//
// A socket of the system's is read and written by calls that don't wait for the
// network, which Go's scheduler is not told of (socket_unix.go). Where a sandbox
// forbids them they are those of net.Conn. The build tag norawsyscall leaves them out,
// and with them [Conn.TryFill]: a connection then does what it does under TLS.
//
// The package also reads what a server says of itself ([Server]) and tells
// whether a host's name still leads to where its connections do
// ([Target.Strays]).
package redisconn
