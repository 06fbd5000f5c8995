// Package behaviour holds no code but tests: what a user of package rlock may rely on, checked against a real Redis.
//
// What can be seen from outside decides: results, errors, the clock, and what the server says of itself (PTTL, INFO
// commandstats, MONITOR, CLIENT LIST, PUBSUB), never the library's insides.
//
// Tests that need nothing but a server take the one that the environment chooses, see redisserver.Start, and use names
// of their own, so that it may be shared. Tests that count, or that change, stop or freeze their server, start one for
// themselves. The one that needs a network that is really cut has a Docker container.
//
// What counts is not parallel; what mostly waits is.
package behaviour
