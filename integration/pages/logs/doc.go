// Package logs holds no code but tests that compare what a client logs with the tables of docs/operations.md.
//
// The tests make every event of the table happen on a real server, and compare message, level and attributes of all
// lines with the rows, in both directions. They also read the source, so that the page misses no event that no test
// makes happen. All servers need a password, which no line may show.
package logs
