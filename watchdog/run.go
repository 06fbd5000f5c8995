package watchdog

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// run is the goroutine. It lives while leases do.
func (w *Watchdog) run() {
	timer := time.NewTimer(w.maxSleep)
	defer timer.Stop()
	for {
		// Alternately, so that neither many losses nor many renewals delay the
		// other.
		told := w.tellSome()
		renewed := w.renewDue()
		if told || renewed {
			continue
		}
		sleep, ok := w.plan(timer)
		if !ok {
			return
		}
		if !sleep {
			continue
		}
		select {
		case <-timer.C:
		case <-w.wakeup:
		}
	}
}

// plan sets the timer, and reports whether there is time to sleep. It is not
// ok when the goroutine has to end, which then no longer counts as running.
func (w *Watchdog) plan(timer *time.Timer) (sleep, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A goroutine that has not slept yet, and finds its lease forgotten, stays for a
	// sleep: who takes and releases locks one after the other would start one again
	// and again, and with it wake a thread.
	if slept := w.timer != nil; w.live == 0 && (slept || w.closed) {
		w.running, w.wakeAt, w.timer = false, Never, nil
		w.dropQueues() // they are empty, and may be large
		return false, false
	}
	w.settle()
	now := w.clock.Now()
	next := w.next()
	if next <= now {
		return false, true
	}
	w.wakeAt = min(next, clock.Later(now, w.maxSleep))
	w.timer = timer
	w.arm(now)
	return true, true
}

// arm sets the timer of a goroutine that sleeps to wakeAt. It is called with
// mu held.
func (w *Watchdog) arm(now time.Duration) {
	if w.timer == nil || w.wakeAt <= now {
		return
	}
	w.timer.Reset(w.wakeAt - now)
}
