// Package redisserver gives tests a real Redis of one of three kinds: a redis-server process ([Local]), a container ([Container]),
// or a server that somebody else runs ([Given]). [Start] chooses the first or the last by the environment, so that the same test
// runs against each.
//
// A process can be stopped, restarted and frozen; a container's network can be cut. Whatever was asked for is there when the call
// returns: a started server answers, a stopped one's port is closed, a frozen one stands still. It ends with the test.
//
// [Fetch] comes by servers of other versions, for [Local] to start.
//
// [TLS], [ACL] and [Replica] start local servers with certificates, users and a master.
//
// Containers need a Docker engine whose bridge networks can be reached from this machine, as they can on Linux, and
// the image redis:7; integration/kit/docker has the script that provides both. Nothing is pulled.
package redisserver
