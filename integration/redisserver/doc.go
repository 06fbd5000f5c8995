// Package redisserver gives tests a real Redis of one of three kinds behind one interface: a redis-server process
// ([Local]), a container ([Container]), or a server that somebody else runs ([Given]). [Start] chooses by the
// environment, so that the same test runs against each.
//
// Each kind can do to its server what its world can: all but a given one stop, restart and freeze; a container's
// network can be cut. Whatever was asked for is there when the call returns: a started server answers, a stopped one's
// port is closed, a frozen one stands still.
//
// [Fetch] comes by servers of other versions, for [Local] to start.
//
// [TLS], [ACL] and [Replica] start local servers with certificates, users and a master.
//
// Containers need a Docker engine whose bridge networks can be reached from this machine, as they can on Linux, and
// the image redis:7; integration/docker has the scripts that provide both. Nothing is pulled.
package redisserver
