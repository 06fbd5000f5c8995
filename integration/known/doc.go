// Package known holds no code but tests: one for each bug that Redisson's lock is known to have or to have had, to show
// that this library does not have it. The numbers in the names are those of Redisson's issues.
//
// Each test makes the bug's situation with a real server and, where a reply must be lost or late, a proxy before it.
// Where an issue is about a topology that is not built yet, the test shows what one server can show, and its comment
// says what is left.
package known
