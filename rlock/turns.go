package rlock

import "sync"

// mostTurns is how many batches of renewals a server may be busy with. Each
// keeps it from everybody else for a quarter of a millisecond, and after an
// outage all of them are due; eight are enough for 80,000 locks at a round
// trip of 100 ms.
const mostTurns = 8

// turns bounds how many batches of renewals are on their way to one server;
// the others wait here, in order, and their owners' command queues stay free
// meanwhile. The zero value is ready.
type turns struct {
	mu      sync.Mutex // guards what follows
	taken   int
	waiting []func() bool
}

// take calls begin in its turn, here or on the goroutine of a leave. begin
// reports whether it needs the turn longer than the call; then a leave is
// owed.
func (t *turns) take(begin func() bool) {
	t.mu.Lock()
	if t.taken == mostTurns {
		t.waiting = append(t.waiting, begin)
		t.mu.Unlock()
		return
	}
	t.taken++
	t.mu.Unlock()
	if !begin() {
		t.leave()
	}
}

// leave hands a turn on.
func (t *turns) leave() {
	for {
		t.mu.Lock()
		if len(t.waiting) == 0 {
			t.taken--
			t.waiting = nil
			t.mu.Unlock()
			return
		}
		begin := t.waiting[0]
		t.waiting[0] = nil
		t.waiting = t.waiting[1:]
		t.mu.Unlock()
		if begin() {
			return
		}
	}
}
