package lockstate

import (
	"sync"
	"sync/atomic"
	"time"
)

// gauge counts what is under way. Goroutines can wait until it is 0.
type gauge struct {
	n    atomic.Int64
	zero chan struct{} // of one: n has just come to 0
}

func newGauge() gauge { return gauge{zero: make(chan struct{}, 1)} }

func (g *gauge) add() { g.n.Add(1) }

func (g *gauge) done() {
	if g.n.Add(-1) == 0 {
		select {
		case g.zero <- struct{}{}:
		default:
		}
	}
}

// wait returns true when the count is 0 or over is closed. It returns false
// when stop is closed first.
func (g *gauge) wait(stop, over <-chan struct{}) bool {
	for {
		if g.n.Load() == 0 {
			return true
		}
		select {
		case <-g.zero:
			if g.n.Load() == 0 {
				select {
				case g.zero <- struct{}{}: // others may wait as well
				default:
				}
				return true
			}
		case <-over:
			return true
		case <-stop:
			return g.n.Load() == 0
		}
	}
}

// timers run functions later. When the client is closed they run at once; each
// function checks by itself whether the client is closed.
type timers struct {
	mu     sync.Mutex // guards all below
	set    map[*time.Timer]func()
	closed bool
	live   int       // functions that run or will
	idle   sync.Cond // live has come to 0
}

func (t *timers) init() {
	t.set = map[*time.Timer]func(){}
	t.idle.L = &t.mu
}

// after runs fn after d, or when the client is closed if that is earlier. No
// lock is held. Its result is for cancel.
func (c *State) after(d time.Duration, fn func()) *time.Timer {
	t := &c.timers
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
func (t *timers) ended() {
	if t.live--; t.live == 0 {
		t.idle.Broadcast()
	}
}

// cancel stops a timer of after. It ignores nil and a function that has begun.
func (t *timers) cancel(timer *time.Timer) {
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

// runAll runs everything that waits, now and from now on.
func (t *timers) runAll() {
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

// wait returns when no function runs any more.
func (t *timers) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.live > 0 {
		t.idle.Wait()
	}
}
