// Package sentinels uses locks through real Sentinels, while the master is moved,
// dies, or can't be asked for.
//
// What the Sentinels say and how they are believed is tested in internal/topology;
// here it is what a caller sees: holds that are kept or told as lost, waiters that
// enter, and calls that fail with an error that says why. No bound on a time is a
// bound on speed.
package sentinels
