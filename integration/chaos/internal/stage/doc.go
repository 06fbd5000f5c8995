// Package stage is what a run happens on: a redis-server, and before it one fault proxy for each process, Go workers as
// real processes, and Java peers whose threads are driven from here. [Stage.Play] does to them what a fault of a
// schedule says.
//
// A Java thread is an owner that comes back, and Redisson gives its unlock up where a Go client would fence the
// connection it was lost on. So a thread that met an exception is not used again: what is still on its way in its name
// then hits nobody.
package stage
