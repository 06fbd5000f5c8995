// Package allocs holds a table of how often the library's inner loops allocate,
// and the test that compares it with what their benchmarks report now. Unlike
// times, allocations do not depend on the machine. So a change that adds
// allocations to a loop fails wherever the tests run.
//
//	go test ./internal/testkit/allocs            compares
//	go test ./internal/testkit/allocs -rewrite   writes a new table
//
// A new benchmark of a package in the list of the test needs a line too.
package allocs
