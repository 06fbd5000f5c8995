// Package rlocktest helps you test code that takes locks with package rlock.
//
// There are three ways. [Open] returns a real client on a Redis inside the test's
// process (miniredis). [OpenVirtual] does the same in a bubble of
// testing/synctest, on a model of Redis in virtual time. The client that either
// returns has methods for events that are otherwise hard to cause: a lost lock, a
// lock that somebody else holds, a lost reply, a server that is down. [NewHold]
// returns a single Hold without any server, for code that takes a small interface
// instead of a *rlock.Lock.
//
// Neither server is Redis itself. They have what this library needs: hashes, leases,
// scripts and messages, but no replicas, Sentinels or cluster. miniredis has no
// CLIENT KILL either; without that the library needs longer to learn what a lost
// command did. Run at least one of your tests against a real server.
//
// The package is a separate module, so that the library does not depend on
// miniredis.
package rlocktest
