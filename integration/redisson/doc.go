// Package redisson is the folder of the tests beside real Redisson. wire shows that both send the same commands for the
// same calls, interop that each excludes, wakes and sees the other, the command-line tool too; javakinds does so for the
// other locks, with what both leave on a server. alike plays the scripts of all, and javamatrix has each recorded release on
// each server. javatwin is one program written in both languages.
package redisson
