// Package refusal reads the errors that a Redis server answers with.
//
// It is the one place that knows an error's code. A [Refusal] says what the
// server said and what follows from it: whether any of the command ran,
// whether the same command may be answered better later, and whether the same
// connection will ever be.
package refusal
