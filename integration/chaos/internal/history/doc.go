// Package history records what happened in a run, on one clock for all processes.
//
// Go workers and the threads of Java peers report each call and each return as an [Event]. A [Book] folds the events of one
// acquisition, from its call to the return of its unlock, into an [Acquisition]. Its window is the time in which its holder
// had reason to believe that nobody else was inside. Each fault that deletes the server's data is a [Void]: it ends what the
// holds of that moment promise.
//
// The clock is CLOCK_MONOTONIC (machineclock.Now), which Java's System.nanoTime reads too.
package history
