// Command mutants shows that the tests find defects. It checks that the tests it will use pass, then puts one defect at a time
// into the library and builds those tests with it. Every test named for a defect must fail. With -lanes it tries
// several defects at once, each in its own builds.
//
// Each defect stands for a promise of docs/dev/invariants.md, or for a part that the others rely on, and is where two
// parts of the library meet. It is a list of edits by function and syntax, see package codeedit; its tests are found by
// their names. An edit that does not match the code exactly once, or a missing test, ends the program (and fails this
// package's test, which runs nothing), so the list can't fall behind the code. A defect that does not build is an error
// of the list and catches nothing: only a test that ran and failed, or that a panic or the time limit ended, catches a
// defect.
//
// The program never writes to the checkout, except to the table in docs/dev/tables/mutants.md with -write. It builds
// the checkout again and again, so the checkout must not change while the program runs.
package main
