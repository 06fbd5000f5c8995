// Package hostile holds no code but tests: what a server that is broken, or no Redis at all, can do to a client of
// package rlock. Every call must end with an error in bounded time and memory, nothing may panic or stay behind.
//
// Real servers don't misbehave on demand, so this is the one place with an invented one: it answers everything as
// Redis would, until a client comes to the command at which it is told to misbehave.
package hostile
