// Package allocs holds the one table of what the library's inner loops
// allocate, and the test that compares it with what their benchmarks say now.
// Unlike times, allocations do not depend on the machine, so that a change
// which makes a loop dearer fails wherever the tests run.
//
//	go test ./internal/allocs            compares
//	go test ./internal/allocs -rewrite   writes the table anew
//
// A new benchmark of a package in the list of the test needs a line too.
package allocs
