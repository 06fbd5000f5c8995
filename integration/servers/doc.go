// Package servers is the folder of the tests with more than one server: sentinels and cluster have failovers and slots
// that move, severalservers runs the behaviours while they do. A cluster's servers are reached by TLS, by name and by IPv6 too,
// and where the cluster does not say its host.
package servers
