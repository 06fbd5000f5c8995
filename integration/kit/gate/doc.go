// Package gate puts a gate before each server of a set, at the address that the server announces. It can cut servers
// off from one another while clients still reach all of them.
//
// Each server connects from its own loopback address (bind-source-addr), so a gate knows whose connection it has. A
// client's connection goes to a fault proxy. A server's connection passes unread while nothing separates the two
// servers. While they are separated it is silent, as in a network outage: it stays open, new connections are accepted,
// and bytes go on once the servers are joined again.
package gate
