// Command javacourtesy measures how real Go and Java processes share one lock of one redis-server, with the client's
// courtesy off and on. What a Go client does for slower ones, and why, is in docs/dev/courtesy.md.
//
//	go run ./javacourtesy                    all rows
//	go run ./javacourtesy -rows 2go,1go      some
//	go run ./javacourtesy -write             puts the tables into docs/dev/tables/courtesy.md and docs/performance.md
//
// A row is some casts: who wants the lock, and whether Go is courteous. Its casts have the stage in turn, for a slice of
// some seconds each (A B C, B C A, …), so that a slow minute of the machine hits all of them, and a ratio is the median
// of the rounds' ratios. Every slice is about a fresh name, and its first moments count for the commands only: what a
// client has to learn about a lock it learns in them.
//
// Processes are started once and are warm before the first slice. Each worker notes three instants of a turn (asked,
// granted, releasing) on CLOCK_MONOTONIC, which all processes share, and sends nothing but what the lock sends. The
// turns of a slice together tell the shares and waits, and whether two were ever in at once, which is an error.
// A wait that the end of its slice cuts off counts as long as it had been.
package main
