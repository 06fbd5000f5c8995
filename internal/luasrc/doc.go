// Package luasrc holds the scripts that change a lock on the server, in .lua files, and makes
// typed calls of them.
//
// lock.lua is the text that Redisson from 3.19 on sends, byte for byte. So its SHA-1 is the
// same, and Go and Java clients use one entry of the server's script cache. The other texts
// are this library's. They leave the same keys as Redisson's and send the same messages, so
// each side understands the state that the other one leaves. Those of a plain and of a spin lock
// with a latch also take the same KEYS and ARGV, run the same commands in the same order and reply
// the same. An unlock without a latch is for owners for which only this client acts: see [Left].
//
// A [Call] is one script with its arguments, ready to be sent as EVALSHA. A server that does
// not know the script answers NOSCRIPT and has done nothing; then [Script.Source] goes into
// SCRIPT LOAD and the call is sent again.
//
// There is one function per script or command that reads its reply, as redigo returns it. A server's
// error is returned wrapped, visible to errors.As. A reply that the script can't give is a
// [*ShapeError], which says what was found, since another program may use the key for other data.
//
// The scripts check nothing that a caller can check. A lease or latch time below 1 ms would
// delete a key or fail half-way, so callers refuse it before.
package luasrc
