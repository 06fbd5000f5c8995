// Package transport makes connections: it reads the URLs that Open accepts,
// dials them, and borrows from a caller's pool. What comes out is a
// redigo connection, authenticated and on its database, that can be
// interrupted from any goroutine where that is possible. A dial that does not
// heed its context keeps nobody waiting ([Punctual]). The package also reads
// what a server says of itself ([Server]) and tells whether a host's name still
// leads to where its connections do ([Target.Moved]).
package transport
