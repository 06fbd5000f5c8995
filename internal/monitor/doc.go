// Package monitor tells what a Redis server executed, in order, calls inside scripts included.
//
// [Tap] reads MONITOR on a connection of its own. MONITOR has no end, so what belongs to a step of a test is cut out
// by markers: the server runs one command after the other, hence everything that was answered before a marker was sent
// stands before it, see [Stream.Mark] and [Stream.Until]. [Calls] then joins each script with what it called.
//
// MONITOR shows no replies; the record of package faultproxy has them. It shows neither AUTH nor what MONITOR's own
// connection sent.
package monitor
