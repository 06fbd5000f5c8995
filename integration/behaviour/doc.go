// Package behaviour holds no code but tests: what a user of package rlock may rely on, checked against a real Redis.
//
// Package invariants tests each number of docs/dev/invariants.md, hostile has servers that misbehave. sentinels has
// failovers, replicated has roles that change without Sentinels, and cluster has slots that move and servers that are reached by TLS, by name or by IPv6. severalservers runs
// the tests of this package on a cluster whose slots move, and behind Sentinels. docs/dev/tables/promises.md lists the tests
// of each promise.
//
// The tests judge by what is visible from outside: results, errors, the clock, and the server's own data (PTTL, INFO
// commandstats, MONITOR, CLIENT LIST, PUBSUB), never by the library's internals.
//
// A test that needs only a server takes the one that the environment chooses, see redisserver.Start, with unique names,
// because others may use it. A test that counts, or that changes, stops or freezes its server, starts its own. The test
// that cuts a real network uses a Docker container.
//
// Tests that count are not parallel; tests that mostly wait are.
package behaviour
