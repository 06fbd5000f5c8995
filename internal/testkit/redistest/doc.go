// Package redistest runs real redis-servers for tests.
//
// What this library promises depends on what Redis does, so nothing here
// imitates it. Start starts a separate server for a test: on 127.0.0.1, on a port
// outside the range that the system uses for outgoing connections (so that
// Restart finds it free), without persistence, in the test's temporary folder.
// It ends with the test, on Linux even if the test binary is killed. A server counts
// as started when it answers with the process id that was started, so two tests
// that race for a port never share a server.
//
// Stop, Kill, Restart, Pause and Resume are the faults a client must survive.
// Package monitor tells which commands the server ran.
//
// The binary is redis-server from PATH, or what RLOCK_REDIS_SERVER names. Without
// one the test fails: a skipped test would look like a passed one.
package redistest
