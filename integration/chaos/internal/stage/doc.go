// Package stage starts what a run needs: a redis-server behind one fault proxy for each process, or a set of servers, Go
// workers as real processes, and Java peers whose threads this package drives. [Stage.Play] carries out a fault of a
// schedule on them.
//
// A Java thread is an owner that comes back. When its unlock is lost, Redisson gives up, where a Go client would first kill
// the connection on the server. So a thread is not used again after an exception: its commands that arrive late then hit
// no hold.
package stage
