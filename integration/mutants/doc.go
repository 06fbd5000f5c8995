// Command mutants shows that the tests bite. It checks that the tests it is about to use pass, and then builds them with
// one defect at a time in the library. The tests named for a defect must fail, every one of them. With -lanes, several defects
// are tried at once, each in builds of its own.
//
// Each defect stands for a promise of docs/dev/invariants.md, or for a part that the others rely on, and is placed where
// one part of the library meets the next. It is a list of edits by function and syntax, see package codeedit; its tests
// are found by their names. An edit that does not meet the code exactly once, or a test that is not there, ends the
// program (and fails this package's test, which runs nothing), so the list can't fall behind the code. A defect that does
// not build is an error of the list and counts as nothing: only a test that ran and failed, or that a panic or the time
// limit ended, has caught something.
//
// The checkout itself is never written to, but for the table in docs/dev/tables/mutants.md if -write says so. It is built again
// and again, so it must not change while this runs.
package main
