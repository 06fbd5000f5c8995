package background

import (
	"sync"
	"time"
)

// Timers run functions later. When a client is closed they run at once; each
// function checks by itself whether the client is closed. They are safe for
// concurrent use.
type Timers struct {
	live Gauge // functions that run or will

	mu     sync.Mutex // guards all below
	set    map[*time.Timer]func()
	closed bool
}

// Init makes the zero Timers ready. It must be called first.
func (t *Timers) Init() {
	t.set = map[*time.Timer]func(){}
	t.live = NewGauge()
}

// After runs fn after d, or when the client is closed if that is earlier. No
// lock is held. Its result is for Cancel.
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

// Cancel stops a timer of After. It ignores nil and a function that has begun.
func (t *Timers) Cancel(timer *time.Timer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set[timer] != nil && timer.Stop() {
		delete(t.set, timer)
		t.live.Done()
	}
}

// RunAll runs everything that waits, now and from now on.
func (t *Timers) RunAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for timer, run := range t.set {
		// One that can't be stopped is about to run by itself.
		if timer.Stop() {
			go run()
		}
	}
	clear(t.set)
}

// Wait returns when no function runs any more.
func (t *Timers) Wait() { t.live.Wait(nil, nil) }

// Live is how many functions run or will.
func (t *Timers) Live() int { return int(t.live.Count()) }
