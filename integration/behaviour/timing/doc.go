// Package timing holds no code but tests: what the client promises of time, order and counts, with one server.
//
// Time is virtual. Each test runs in a bubble of testing/synctest, against a model of Redis in memory, so that a
// duration is exact and a test that waits for minutes takes milliseconds.
package timing
