package locks

import (
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// section is a mutex, and the critical section in which it is held. The clock is read at most once in a
// section, when Now is first called. What was queued is written by leave, so callers need not
// remember to.
type section struct {
	mu      sync.Mutex // guards what follows, and all that its owner says it does
	clock   clock.Clock
	exec    *command.Executor
	ending  ending
	read    bool          // at is set
	at      time.Duration // the clock's reading
	queued  bool          // there is something to be written
	outside []func()      // to be run without the mutex: callbacks into others' code
}

// ending is how a section writes what it has queued.
type ending bool

const (
	// mayBlock is for goroutines of callers, and for those of timers: they encode all
	// that is queued, and a lone caller waits some milliseconds for its own reply. They
	// don't wait for a write.
	mayBlock ending = true

	// mustNotBlock is for the goroutines that read replies and messages and that renew, and for
	// calls that promise not to wait: another goroutine writes, unless there is little to
	// write.
	mustNotBlock ending = false
)

// enter begins a section and returns x. leave must be called.
func (x *section) enter(e ending) *section {
	x.mu.Lock()
	x.ending, x.read = e, false
	return x
}

// leave ends the section, runs what was deferred, and has the executor write what was queued.
func (x *section) leave() {
	e, queued, outside := x.ending, x.queued, x.outside
	x.queued, x.outside = false, nil
	x.mu.Unlock()
	for _, fn := range outside {
		fn()
	}
	switch {
	case !queued:
	case e == mayBlock:
		x.exec.Flush()
	default:
		x.exec.WakeWriter(nil)
	}
}

// Now is the time of the section.
func (x *section) Now() time.Duration {
	if !x.read {
		x.read, x.at = true, x.clock.Now()
	}
	return x.at
}

// After runs fn when the section has been left.
func (x *section) After(fn func()) { x.outside = append(x.outside, fn) }

// enqueue is command.Executor.Enqueue.
func (x *section) enqueue(r *command.Request) bool {
	x.queued = true
	return x.exec.Enqueue(r)
}

// without runs fn, which may block, without the section, and enters another one.
func (x *section) without(fn func()) {
	x.leave()
	fn()
	x.enter(mayBlock)
}

// await is command.Executor.Await, of what was queued in the section.
func (x *section) await(r *command.Request) { x.without(func() { x.exec.Await(r) }) }

// barrier is command.Executor.Barrier.
func (x *section) barrier(r *command.Request) { x.without(func() { x.exec.Barrier(r) }) }

// ask sends a query to the server of the slot and waits for the reply. It leaves the section
// while it waits.
func (s *shard) ask(slot uint16, call kind.Call, limit time.Duration) (reply any, err error) {
	r := s.client.question(slot, call, limit)
	if s.enqueue(r) {
		s.without(func() { s.exec.Finish(r) })
	}
	return replied(r)
}

// askLater queues a query and returns. then gets it later, in another section, when it has ended.
func (s *shard) askLater(slot uint16, call kind.Call, limit time.Duration, then func(*command.Request)) {
	r := s.client.question(slot, call, limit)
	r.Handler = command.Ended(func(r *command.Request) {
		defer s.enter(mustNotBlock).leave()
		then(r)
	})
	if !s.enqueue(r) {
		s.client.Go(func() { r.Handler.Answered(r) })
	}
}
