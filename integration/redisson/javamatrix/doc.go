// Package javamatrix plays the proof of package wire and the behaviours of package interop for each pair of a Redisson
// release and a server, and writes docs/dev/tables/matrix.md and a table of README.md from the results.
//
// It has tests only. `make test-matrix` runs every release of javapeer.Recorded, and the newest one there is if that is
// another, on every server of redisserver.Packages. Each pair runs the behaviours that take a few seconds. FLAGS chooses:
//
//	-versions 4.7.0,3.11.6   these releases only; newest is whatever was released last
//	-servers redis-6.2       these servers only
//	-topologies one,cluster  these parts only: one server, sentinel, cluster, kinds of locks
//	-kinds semaphore,latch   these kinds only, of that part
//	-altered                 Go's unlock script with one byte changed; it has to turn the matrix red
//	-write                   write the pages after a whole matrix, or only their rows of -topologies sentinel,cluster or kinds
//
// Each other kind of lock is played with each release that has it, on one server unless -servers names others: its
// scenarios on the wire and its behaviours.
//
// Behind Sentinels and in a cluster, two releases play a part of the scenarios and behaviours on every server.
//
// A server that this machine can't get, or a newest release that can't be looked up, is named as missing, on the page too.
// That fails the test only if nothing is left to play.
//
// Each pair has a server and a JVM for each watchdog timeout of the proof, which is a setting of a client, and one of each
// for the behaviours. A plain `go test` plays one pair in part and checks the pages.
//
// The pages are rendered from testdata/run.json, which is written with them. A test notices a page that was edited by hand,
// or that the code would write differently. After a change of their words
//
//	go test -run TestDocumentsAre -render
//
// writes them anew without a run.
package javamatrix
