// Package rlocktest helps you test code that takes locks with package rlock.
//
// There are two ways. [Open] returns a real client on a Redis inside the test's
// process (miniredis). Each of its methods causes what is otherwise hard to
// cause: a lost lock, a lock that somebody else holds, a lost reply, a server
// that is down. [NewHold] returns a single Hold without any server, for code
// that takes a small interface instead of a *rlock.Lock.
//
// miniredis is not Redis. It has what this library needs: hashes, leases,
// scripts and messages. It has no replicas, Sentinels or cluster, and no CLIENT
// KILL; without that the library needs longer to learn what a lost command did.
// Run at least one of your tests against a real server.
//
// The package is a separate module, so that the library does not depend on
// miniredis.
package rlocktest
