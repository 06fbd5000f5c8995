// Package worker is a Go process under torture. Its goroutines acquire, re-enter, keep, extend, lose and release a few locks
// at random, and report all that they do on standard output, as one line of JSON for each [history.Event].
//
// A worker writes a call before it makes it, and a return after it. So no line that matters is missing when the process is
// killed in between. It believes what its hold reports: it keeps asking Err and ValidUntil and writes what they return.
//
// Standard input carries orders, one a line: "cancel" ends all contexts that bound an acquire, "stop" lets the workers
// finish, "close" closes the client. The process ends when standard input does.
package worker
