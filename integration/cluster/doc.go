// Package cluster runs the library and real Redisson on a real cluster: three
// masters, each with a replica.
//
// A Java waiter must be woken by a Go release, and a Go waiter by a Java one,
// whichever kind of message the Redisson of either publishes: from 3.22 on it is
// the sharded one, before that the plain one.
package cluster
