package main

import (
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// step is how long a working holder waits between two deeds, and the shortest overlap that the witness sees. Stays
// begin and end when a caller acted; what it did between two acts, at least step apart, is unknown.
const step = 2 * time.Millisecond

// witness knows when each caller was inside, and nothing else. All methods are safe for concurrent use.
type witness struct {
	mu    sync.Mutex
	spans []*span
}

// span is one caller's stay. It begins with the grant and ends with the caller's last act.
type span struct {
	w        *witness
	name     string
	from, to int64 // to is 0 until the stay ends
}

// enter begins a stay at the lock of this name.
func (w *witness) enter(name string) *span {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &span{w: w, name: name, from: machineclock.Now()}
	w.spans = append(w.spans, s)
	return s
}

// stay records a whole stay.
func (w *witness) stay(name string, from, to int64) {
	s := w.enter(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.from, s.to = from, max(from, to)
}

// leave ends the stay now, before the unlock is sent.
func (s *span) leave() { s.leaveAt(machineclock.Now()) }

// leaveAt ends the stay at an instant. Only the first end counts.
func (s *span) leaveAt(at int64) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.to == 0 {
		s.to = max(at, s.from)
	}
}

// together is the longest time for which two were inside at once, or 0 if it is less than step: then one of them acted
// once while the other was inside, like a holder that checked just before it was stopped.
func (w *witness) together() (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := machineclock.Now()
	end := func(s *span) int64 {
		if s.to == 0 {
			return now
		}
		return s.to
	}
	for i, a := range w.spans {
		for _, b := range w.spans[:i] {
			if a.name == b.name {
				longest = max(longest, time.Duration(min(end(a), end(b))-max(a.from, b.from)))
			}
		}
	}
	if longest < step {
		return 0
	}
	return longest
}
