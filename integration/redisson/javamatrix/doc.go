// Package javamatrix plays the proof of package wire and the behaviours of package interop for each pair of a Redisson
// release and a server, and makes docs/compatibility.md and docs/dev/tables/matrix.md of what it saw.
//
// It has tests only. `make test-matrix` runs every release of javapeer.Recorded, and the newest one there is if that is
// another, on every server of redisserver.Packages. Of the behaviours, each pair is shown those that take seconds.
// FLAGS chooses:
//
//	-versions 4.7.0,3.11.6   these releases only; newest is whatever was released last
//	-servers redis-6.2       these servers only
//	-topologies one,cluster  these parts only: one server, sentinel, cluster, kinds of locks
//	-kinds semaphore,latch   these kinds only, of that part
//	-altered                 Go's unlock script with one byte changed; it has to turn the matrix red
//	-write                   write the pages, of a whole matrix, or with -topologies sentinel,cluster or kinds those rows anew
//
// Each other kind of lock is played with each release that has it, on one server unless -servers names others: its scenarios on
// the wire and its behaviours.
//
// Behind Sentinels and in a cluster two releases are played on every server, and a part of the scenarios and behaviours.
//
// A server that can't be had on this machine, and a newest release that can't be looked up, are named as missing, in the
// page too. They fail nothing, unless nothing is left to be played.
//
// Each pair has a server and a JVM for each watchdog timeout that the proof needs, which is a setting of a client, and
// one of each for the behaviours. A plain `go test` plays one pair in part and checks the pages.
//
// The pages are a rendering of testdata/run.json, which is written along with them, so that a page that was edited by hand,
// or that the code would write otherwise, is noticed. After a change of their words
//
//	go test -run TestDocumentsAre -render
//
// writes them anew without a run.
package javamatrix
