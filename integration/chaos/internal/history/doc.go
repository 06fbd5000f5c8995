// Package history is what happened in a run, on one clock for all processes.
//
// Go workers and the threads of Java peers say each call and each return as an [Event]. A [Book] folds the events of one
// acquisition, from its call to the answer to its unlock, into an [Acquisition], which knows the window in which its
// holder had reason to believe that nobody else was inside. Faults that take the server's data are a [Void] each: what
// was open at that moment promises nothing any more.
//
// The clock is CLOCK_MONOTONIC ([Now]), which Java's System.nanoTime reads too.
package history
