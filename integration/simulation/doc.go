// Package simulation plays whole clients against a model of Redis, in virtual time, and judges
// all that they say and do.
//
// A seed is a play. [Draw] makes its [Plan]: the servers, the clients, their objects, callers and
// faults. [Play] runs it in one testing/synctest bubble, where minutes pass in milliseconds.
// Each concept has its file:
//
//   - plan.go draws; topology.go has the servers; process.go has the clients.
//   - caller.go has the life of a caller. The files that begin with call_ say how one uses its
//     kind of object, those that begin with java_ how a client of Redisson does.
//   - sent.go notes when a client last wrote to a server.
//   - storm.go and fault.go bring the faults, adversary.go cancels and releases at bad moments.
//   - ledger.go records who holds, waits and may be excused. The files that begin with judge_
//     compare that with the servers and with what callers were told, one rule a file.
//   - contract.go lists everything that the rules let pass, each with its sentence of the
//     documentation.
//
// One mutex, the world's, guards the play and the servers. It is never held while the library is
// called, because the library takes it when it writes.
package simulation
