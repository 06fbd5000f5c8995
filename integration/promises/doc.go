// Package promises is the folder of the tests that show each promise once, on a real server: invariants tests each
// number of docs/dev/invariants.md, behaviour whatever else a user of package rlock may rely on, and hostile servers
// that misbehave. docs/dev/tables/promises.md lists the tests of each promise.
package promises
