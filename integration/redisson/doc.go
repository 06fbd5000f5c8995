// Package redisson is the folder of the tests with real Redisson. Package wire shows that both send the same commands for
// the same calls. Package interop shows that each excludes, wakes and sees the other, and that the command-line tool does
// too; javakinds shows this for the other locks, and compares what both leave on a server. alike plays the scripts of all.
// javamatrix runs each recorded release on each server. javatwin is one program written in both languages. gaps measures how long
// each of both can't enter a lock after a fault.
package redisson
