// Package gate stands before each server of a set, at the address that the server announces, and parts the servers from
// one another while clients still reach all of them.
//
// Each server connects from a loopback address of its own (bind-source-addr), so a gate knows whose connection it has: a
// server's, which is passed on unread while nothing parts the two, or a client's, which goes to a fault proxy. A parted
// connection is silent, as a network's is: it stays open, new ones are accepted, and bytes go on when the parts meet
// again.
package gate
