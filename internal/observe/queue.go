package observe

import (
	"sync"
	"time"
)

// most is how many events may wait.
const most = 4096

// Queue calls functions one after the other, on a goroutine that exists while there are
// any. Add does not block. The zero Queue is ready.
type Queue struct {
	mu      sync.Mutex // guards what follows
	events  []func()
	idle    chan struct{} // closed when the goroutine ends; nil: there is none
	dropped int64
}

// Add queues fn. It drops fn if too many are waiting already.
func (q *Queue) Add(fn func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) >= most {
		q.dropped++
		return
	}
	q.events = append(q.events, fn)
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.run()
	}
}

// run calls the queued functions. If one ends the goroutine, run goes on in another.
func (q *Queue) run() {
	done := false
	defer func() {
		if !done {
			go q.run()
		}
	}()
	for fn := q.next(); fn != nil; fn = q.next() {
		fn()
	}
	done = true
}

// next takes the next function; nil: none is left.
func (q *Queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		q.events = nil
		close(q.idle)
		q.idle = nil
		return nil
	}
	fn := q.events[0]
	q.events = q.events[1:]
	return fn
}

// Dropped returns how many functions were dropped.
func (q *Queue) Dropped() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Wait blocks until all queued functions were called, for patience at most.
func (q *Queue) Wait(patience time.Duration) {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-time.After(patience):
	}
}
