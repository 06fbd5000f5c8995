// Package sentinels uses locks behind real Sentinels, while the master is moved,
// dies, or can't be looked up.
//
// Package internal/topology tests what the Sentinels report and which reports
// count. Here it is what a caller sees: holds that are kept or reported lost,
// waiters that enter, and calls that fail with an error that says why. No time
// limit here says anything about speed.
package sentinels
