// Command javatwin is the Go half of one job that is written twice, in Java with Redisson and in Go with rlock, so that a
// reader of one understands the other: README.md here shows them side by side. Invoices is the job; Ledger is the books,
// which only the lock keeps consistent. Folder java has the same files in Java. Both programs take the same arguments:
//
//	go run ./redisson/javatwin redis://127.0.0.1:6379 30000 25 15 120 20
//
// They are the URL, the watchdog timeout, the time to print and to mail one invoice (all in ms), how many invoices to book,
// and how many credit notes to number meanwhile. A program prints ready, begins at a line on standard input, and ends when
// it is done or standard input ends. At its end it runs settle, the short job in the project's README.
//
// The tests run both at once on one server, check by the log in Redis that they excluded each other, and take the lock from
// each of them in the middle. They compare README.md with these files, and docs/from-java.md with the classes of Redisson
// and the compiler.
package main
