// Command javacourtesy measures how real Go and Java processes share one lock on one redis-server, with the client's
// courtesy off and on. docs/dev/courtesy.md says what a Go client does for slower ones, and why.
//
//	go run ./javacourtesy                    all rows
//	go run ./javacourtesy -rows 2go,1go      some
//	go run ./javacourtesy -write             puts the tables into docs/dev/tables/courtesy.md and docs/performance.md
//
// A row compares casts. A cast says which processes want the lock, and whether Go is courteous. The casts of a row take
// turns, for a slice of some seconds each (A B C, B C A, …), so that a slow minute of the machine affects all of them,
// and a ratio is the median of the rounds' ratios. Each slice uses a fresh name. Its first moments count only for the
// commands: in them a client learns what it has to learn about a lock.
//
// Processes are started once and are warm before the first slice. Each worker records three instants of a turn (asked,
// granted, releasing) on CLOCK_MONOTONIC, which all processes share, and sends only the lock's own commands. The turns
// of a slice show the shares and waits, and whether two were ever inside at once, which is an error. A wait that is cut
// off by the end of its slice counts with its length until then.
package main
