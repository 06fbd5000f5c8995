// Package hostile holds no code but tests of what a broken server, or one that is no Redis, can do to a client of
// package rlock. Every call must end with an error in bounded time and memory; nothing may panic or stay behind.
//
// Real servers don't misbehave on demand, so only these tests invent a server. It answers like Redis until a client
// sends the command at which it misbehaves.
package hostile
