package observe

import (
	"sync"
	"time"
)

// most is how many events wait at most.
const most = 4096

// Queue calls functions one after the other, on a goroutine that it has while there
// are some. Whoever adds one does not wait. The zero Queue is ready.
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

// run calls what there is.
func (q *Queue) run() {
	for {
		q.mu.Lock()
		events := q.events
		q.events = nil
		if len(events) == 0 {
			close(q.idle)
			q.idle = nil
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		for _, fn := range events {
			fn()
		}
	}
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
