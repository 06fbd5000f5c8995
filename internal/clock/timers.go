package clock

import (
	"sync"
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
