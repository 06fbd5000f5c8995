// Command touched counts the library's functions and files that one uncontended pair runs: a Lock and its Unlock, of a
// client that is connected and has run many. It is the code that a reader meets who follows such a call, and what
// structure has to keep small.
//
//	go run ./touched            the count by package
//	go run ./touched -v         the functions too
//
// It builds package pair, below, with coverage of every package of the library, and runs it against a redis-server of its
// own. The goroutines of the client count with the caller's: what they run until the client is idle again. The runs of
// one count differ by what the scheduler does, so there are some, and a function counts that most of them ran.
package main
