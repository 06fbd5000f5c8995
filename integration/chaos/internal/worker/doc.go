// Package worker is a Go process under torture: some goroutines that take, re-enter, keep, extend, lose and release a
// few locks at random, and say on standard output, as one line of JSON for each [history.Event], all that they do.
//
// A call is written down before it is made and a return after it, so that the line of a process that is killed in
// between is never missing where it would matter. What a worker believes comes from the hold's own word: it keeps asking
// Err and ValidUntil and says what they answer.
//
// Standard input carries orders, one a line: "cancel" ends all contexts that bound an acquire, "stop" lets the workers
// come to their end, "close" closes the client. The process ends when standard input does.
package worker
