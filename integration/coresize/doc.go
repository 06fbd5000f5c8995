// Command coresize counts what the core has for each kind of lock: the lines that run for the kind, and that the plain
// lock never reaches.
//
//	go run ./coresize        a row of each kind, and the number
//	go run ./coresize -v     the lines by function too
//
// A function is reached if one that is reached names it, or names the type of a method that an interface may call. The
// first are those outside the core, but for the files of package rlock that are other kinds'. A branch is not reached
// whose condition is false by the kind's Traits. What a variable decides counts as reached by all, so the numbers are
// rather too small.
package main
