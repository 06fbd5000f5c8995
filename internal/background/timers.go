package background

import (
	"sync"
	"time"
)

// Timers run functions later. When a client is closed they run at once; each
// function checks by itself whether the client is closed. They are safe for
// concurrent use.
type Timers struct {
	mu     sync.Mutex // guards all below
	set    map[*time.Timer]func()
	closed bool
	live   int       // functions that run or will
	idle   sync.Cond // live has come to 0
}

// Init makes the zero Timers ready. It must be called first.
func (t *Timers) Init() {
	t.set = map[*time.Timer]func(){}
	t.idle.L = &t.mu
}

// After runs fn after d, or when the client is closed if that is earlier. No
// lock is held. Its result is for Cancel.
func (t *Timers) After(d time.Duration, fn func()) *time.Timer {
	run := func() {
		fn()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.ended()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live++
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

// ended counts a function off. It is called with mu held.
func (t *Timers) ended() {
	if t.live--; t.live == 0 {
		t.idle.Broadcast()
	}
}

// Cancel stops a timer of After. It ignores nil and a function that has begun.
func (t *Timers) Cancel(timer *time.Timer) {
	if timer == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set[timer] != nil && timer.Stop() {
		delete(t.set, timer)
		t.ended()
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
func (t *Timers) Wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.live > 0 {
		t.idle.Wait()
	}
}

// Live is how many functions run or will.
func (t *Timers) Live() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}
