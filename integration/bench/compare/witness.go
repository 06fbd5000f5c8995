package main

import (
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// step is how long a holder who works waits between two deeds, and what the witness can tell apart. Its stays are made of
// instants at which a caller acted. Between two of them nobody knows what he did, and they are never closer than this.
const step = 2 * time.Millisecond

// witness knows when each caller was inside, and nothing else.
type witness struct {
	mu    sync.Mutex
	spans []*span
}

// span is one caller's stay. It begins when the caller was granted the lock, and ends with the last thing that it did.
type span struct {
	w        *witness
	name     string
	from, to int64 // to is 0 while it goes on
}

// enter begins a stay at the lock of a name.
func (w *witness) enter(name string) *span {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &span{w: w, name: name, from: machineclock.Now()}
	w.spans = append(w.spans, s)
	return s
}

// stay notes a whole one.
func (w *witness) stay(name string, from, to int64) {
	s := w.enter(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	s.from, s.to = from, max(from, to)
}

// leave ends it now, before the unlock is sent.
func (s *span) leave() { s.leaveAt(machineclock.Now()) }

// leaveAt ends it at an instant. Only the first end counts.
func (s *span) leaveAt(at int64) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.to == 0 {
		s.to = max(at, s.from)
	}
}

// together is how long two were inside at once, or 0 if that is less than the witness can tell apart: then one of them
// acted once when the other was inside, as one who had looked before he was stopped.
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
