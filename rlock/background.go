package rlock

import (
	"sync"
	"sync/atomic"
	"time"
)

// gauge counts what is under way, and lets one goroutine wait for none.
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

// wait returns true when there is none or over is closed, and false when stop
// is closed first.
func (g *gauge) wait(stop, over <-chan struct{}) bool {
	for {
		if g.n.Load() == 0 {
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

// timers are the things to be done later. Closing does them at once: each
// looks by itself whether the client is closed.
type timers struct {
	mu     sync.Mutex // guards all below
	set    map[*time.Timer]func()
	closed bool
	wg     sync.WaitGroup // functions that run or will
}

// after runs fn without any lock held, after d or when the client is closed,
// whichever is first, and flushes what fn queued.
func (c *Client) after(d time.Duration, fn func()) {
	t := &c.timers
	run := func() {
		fn()
		c.node.pipe.Flush()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || d <= 0 {
		t.wg.Go(run)
		return
	}
	t.wg.Add(1)
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		defer t.wg.Done()
		t.mu.Lock()
		delete(t.set, timer)
		t.mu.Unlock()
		run()
	})
	t.set[timer] = run
}

// hurry runs everything that waits, now and from now on.
func (t *timers) hurry() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for timer, run := range t.set {
		// One that can't be stopped is about to run by itself.
		if timer.Stop() {
			t.wg.Go(run)
			t.wg.Done()
		}
	}
	clear(t.set)
}
