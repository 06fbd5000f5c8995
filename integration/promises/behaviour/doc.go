// Package behaviour holds no code but tests: what a user of package rlock may rely on, checked against a real Redis.
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
