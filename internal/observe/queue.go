package observe

import (
	"sync"
	"time"
)

// most is how many events wait at most.
const most = 4096

// Queue calls functions one after the other, on a goroutine that it has while there
// are some. Add does not wait. The zero Queue is ready.
type Queue struct {
	mu      sync.Mutex // guards what follows
	events  []func()
	idle    chan struct{} // closed when the goroutine ends; nil: there is none
	dropped int64
}

// Add has fn called. It is dropped if too many wait already.
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

// run calls what there is. A function that ends the goroutine has another one go on.
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

// next is what is called next; nil: nothing is left.
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

// Dropped is how many were dropped.
func (q *Queue) Dropped() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Wait waits until all were called, for so long at most.
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
