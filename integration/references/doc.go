// Command references counts how the files of each package of the library use one another, and how much of that runs back
// up: with the files of a package in one order, a file uses what is below it, and whatever it uses above it runs back up.
// Of a package that can be read from top to bottom nothing does. The order is the best that a search finds.
//
//	go run ./references         the counts by package
//	go run ./references -v      each order too, and what runs back up
//
// A file uses another if it names a function, a method, a type, a constant or a variable that is declared there; fields
// don't count, nor do tests.
package main
