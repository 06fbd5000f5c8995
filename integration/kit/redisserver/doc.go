// Package redisserver gives tests a real Redis of one of three kinds: a redis-server process ([Local]), a container
// ([Container]), or a server that somebody else runs ([Given]). [Start] chooses a process or a given server by the
// environment, so that the same test runs against each.
//
// A process can be stopped, restarted and frozen; a container's network can be cut. A call returns once it has worked:
// a started server answers, a stopped server's port is closed, a frozen server has stopped. It ends with the test.
//
// [Fetch] gets servers of other versions, for [Local] to start.
//
// [TLS], [ACL] and [Replica] start local servers with certificates, with users, or as the replica of a master.
//
// Containers need a Docker engine whose bridge networks can be reached from this machine, as they can on Linux, and
// the image redis:7; integration/kit/docker has the script that provides both. Nothing is pulled.
package redisserver
