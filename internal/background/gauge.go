// Package background has what the end of a client waits for: counts of what is
// under way, and functions that run later. It also has what goroutines wait by.
package background

import "sync/atomic"

// Gauge counts what is under way. Goroutines can wait until it is 0. It is safe for
// concurrent use.
type Gauge struct {
	n    atomic.Int64
	zero chan struct{} // of one: n has just come to 0
}

// NewGauge makes a Gauge that counts nothing so far.
func NewGauge() Gauge { return Gauge{zero: make(chan struct{}, 1)} }

// Count is how much is under way.
func (g *Gauge) Count() int64 { return g.n.Load() }

// Add counts one more.
func (g *Gauge) Add() { g.n.Add(1) }

// Done counts one off.
func (g *Gauge) Done() {
	if g.n.Add(-1) == 0 {
		Signal(g.zero)
	}
}

// Wait returns true when the count is 0 or over is closed. It returns false
// when stop is closed first.
func (g *Gauge) Wait(stop, over <-chan struct{}) bool {
	for {
		if g.n.Load() == 0 {
			Signal(g.zero) // others may wait as well
			return true
		}
		select {
		case <-g.zero:
		case <-over:
			return true
		case <-stop:
			return g.n.Load() == 0
		}
	}
}
