// Package promises is the folder of the tests that show each promise once, on a real server: invariants has a test for
// each number of docs/dev/invariants.md, behaviour what else a user of package rlock may rely on, and hostile the servers
// that misbehave. docs/dev/tables/promises.md has the tests of each promise.
package promises
