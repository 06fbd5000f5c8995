package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Timers run functions later. When a client is closed, RunAll runs them at once;
// each function checks by itself whether the client is closed. Timers are safe for
// concurrent use.
type Timers struct {
	live Gauge // functions that run or will run

	mu     sync.Mutex // guards all below
	set    map[*time.Timer]func()
	closed bool
}

// Init makes the zero Timers ready. It must be called first.
func (t *Timers) Init() {
	t.set = map[*time.Timer]func(){}
	t.live = NewGauge()
}

// After runs fn on another goroutine after d, or at RunAll if that is earlier. It
// returns a timer for Cancel, or nil if fn runs at once.
func (t *Timers) After(d time.Duration, fn func()) *time.Timer {
	run := func() {
		fn()
		t.live.Done()
	}
	t.live.Add()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || d <= 0 {
		go run()
		return nil
	}
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		t.mu.Lock()
		delete(t.set, timer)
		t.mu.Unlock()
		run()
	})
	t.set[timer] = run
	return timer
}

// Cancel stops a timer of After. It does nothing for nil, or if the function has begun.
func (t *Timers) Cancel(timer *time.Timer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set[timer] != nil && timer.Stop() {
		delete(t.set, timer)
		t.live.Done()
	}
}

// RunAll starts every waiting function now, and every later one at once.
func (t *Timers) RunAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for timer, run := range t.set {
		// A timer that can't be stopped is about to run its function.
		if timer.Stop() {
			go run()
		}
	}
	clear(t.set)
}

// Wait returns when no function runs or is going to run.
func (t *Timers) Wait() { t.live.Wait(nil, nil) }

// Live is the number of functions that run or will run.
func (t *Timers) Live() int { return int(t.live.Count()) }

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
