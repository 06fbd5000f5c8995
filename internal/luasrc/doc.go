// Package luasrc holds the scripts that change a lock on the server, one .lua
// file each, and makes typed calls of them.
//
// lock.lua is the text that Redisson from 3.19 on sends, byte for byte, so that
// its SHA-1 is the same and Go and Java clients use one entry of the server's
// script cache. The other texts are this library's; they take the same KEYS and
// ARGV, run the same commands in the same order and reply the same as
// Redisson's, so either side understands the state the other one leaves. Those of a
// read-write lock leave the same keys, and tell the same channel, but differ besides: see
// the comments of readwrite.go.
//
// A [Call] is one script with its arguments, ready to be sent as EVALSHA. A
// server that does not know the script answers NOSCRIPT and has done nothing;
// then [Script.Source] goes into SCRIPT LOAD and the call is sent again. What
// the replies mean is told by package codec.
//
// The scripts check nothing that a caller can check. A lease or latch time below
// 1 ms would delete a key or fail half-way, so callers refuse it before.
package luasrc
