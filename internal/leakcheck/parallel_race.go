//go:build race

package leakcheck

// parallel is how many tests of a package run at a time that allow it. With the race detector they compute more than they wait.
func parallel() string { return "12" }
