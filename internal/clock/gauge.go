package clock

import "sync/atomic"

// Gauge counts operations in progress. Goroutines can wait until it is 0. It is safe
// for concurrent use.
type Gauge struct {
	n    atomic.Int64
	zero chan struct{} // cap 1: n has just come to 0
}

// NewGauge makes a Gauge with the count 0.
func NewGauge() Gauge { return Gauge{zero: make(chan struct{}, 1)} }

// Count is the number of operations in progress.
func (g *Gauge) Count() int64 { return g.n.Load() }

// Add increases the count by one.
func (g *Gauge) Add() { g.n.Add(1) }

// Done decreases the count by one.
func (g *Gauge) Done() {
	if g.n.Add(-1) == 0 {
		Signal(g.zero)
	}
}

// Wait blocks until the count is 0 or over is closed, and returns true, or until
// stop is closed, and returns whether the count is 0 then.
func (g *Gauge) Wait(stop, over <-chan struct{}) bool {
	for {
		if g.n.Load() == 0 {
			Signal(g.zero) // other goroutines may wait too
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
