// Package monitor lists what a Redis server executed, in order, including calls inside scripts.
//
// [Tap] reads MONITOR on a separate connection. MONITOR has no end, so markers separate the steps of a test. The server
// runs one command after the other, so all commands that were answered before a marker was sent come before it, see
// [Stream.Mark] and [Stream.Until]. [Calls] then joins each script with what it called.
//
// MONITOR shows no replies; the record of package faultproxy has them. It shows neither AUTH nor what MONITOR's own
// connection sent.
package monitor
