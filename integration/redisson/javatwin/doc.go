// Command javatwin is the Go half of one job that is written twice, in Java with Redisson and in Go with rlock, so that
// who knows one can read the other: README.md here shows them side by side. Invoices is the job, Ledger the books that
// only the lock keeps straight; folder java has the same files in Java. Both programs take the same arguments:
//
//	go run ./redisson/javatwin redis://127.0.0.1:6379 30000 25 15 120 20
//
// They are the URL, the watchdog timeout, the time to print and to mail one invoice (all in ms), how many invoices to
// book, and how many credit notes to number beside them. A program says ready, begins at a line on standard input, and
// ends when it is done or standard input ends. The last that each does is the short job that the README of the whole shows, settle.
//
// The tests run both at once on one server, read from the log in Redis that they excluded each other, take the
// lock from each of them in the middle, and hold README.md against these files, and docs/from-java.md against the classes
// of Redisson and the compiler.
package main
