// Command mutants shows that the tests bite. It copies the checkout to a temporary folder, checks that the tests it is
// about to use pass there, and then puts one defect at a time into the library: each is what somebody could write by
// mistake, or what an older client did. The tests named for a defect must fail, every one of them.
//
// A defect is a list of edits, each a file, a piece of its text and what stands there instead. A text that is not found
// exactly once ends the program (and fails this package's test, which runs nothing), so the list can't fall behind the
// code. A defect that does not build is an error of the list and counts as nothing: only a test that ran and failed, or
// that a panic or the time limit ended, has caught something.
//
// The checkout itself is never written to, but for the table in docs/dev/mutants.md if -write says so.
package main
