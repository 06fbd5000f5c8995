// Package chaos holds no code but tests: on one server, behind Sentinels and in a cluster, Go and a JVM with real Redisson use
// the same locks, while faults strike the servers and the connections at random.
//
// package simulation shows more of Go alone, in virtual time against a model. These tests show what that can't have: real
// servers, sockets and Java. A test judges three things:
//
//   - exclusion: whoever enters finds nobody inside. A Go hold that says that it is lost does not count, and holds of the time
//     around a fault that may lose data do not either;
//   - what Go's calls return: only documented errors, and a loss only around those faults;
//   - progress: after each fault, both sides enter again. In the end no lock and no subscription is left.
//
// They need Java, and are part of `make test-all`; -for plays longer, and -seed draws the same faults and calls again, though at
// other moments.
package chaos
