// Package rlocktest helps to test code that takes locks by package rlock.
//
// There are two ways. [Open] gives a real client on a Redis inside the test's
// process (miniredis), with one call each for what is hard to make happen: a lock
// that is lost, one that somebody else holds, a reply that never comes, a server
// that is down. [NewHold] gives a single Hold without any server, for code that
// takes a small interface in the place of a *rlock.Lock.
//
// miniredis is no Redis. It keeps what this library needs of it: hashes, leases,
// scripts and messages. It has no replicas, Sentinels or cluster, and no CLIENT
// KILL, without which the library takes longer to be certain. A program should
// meet a real server in at least one of its tests.
//
// The package is a module of its own, so that the library does not depend on
// miniredis.
package rlocktest
