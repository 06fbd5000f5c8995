// Package redisconn makes connections for the pipeline and for the hub.
//
// It reads the URLs that Open accepts, dials them, and borrows from a caller's
// pool. What comes out is a redigo connection, authenticated and on its
// database. A dial that does not heed its context keeps nobody waiting
// ([Punctual]). While somebody has a connection it is [Owned]: it can be broken
// off from any goroutine, and is given back once. [Backoff] spaces the attempts
// when there is none.
//
// The package also reads what a server says of itself ([Server]) and tells
// whether a host's name still leads to where its connections do
// ([Target.Moved]).
package redisconn
