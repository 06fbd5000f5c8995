// Package refusal reads the errors that a Redis server answers with.
//
// It is the only package that knows the codes of errors. A [Refusal] has the server's
// text and says what follows from it: whether any of the command ran, whether the same
// command may succeed later, and whether it needs another connection.
package refusal
