// Package transport makes connections: it reads the URLs that Open accepts,
// dials them, and borrows from a caller's pool. What comes out is a
// redigo connection, authenticated and on its database, that can be
// interrupted from any goroutine where that is possible.
package transport
