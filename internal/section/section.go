// Package section has the critical section: what a client knows of its locks is only read and
// changed in one. It has one time. No I/O is done in it, and no code of others is called: both
// happen when it has ended. A function that must wait for the server leaves it meanwhile, and says
// so ([Section.Without]).
package section

import (
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
)

// Section is a mutex, and the critical section in which it is held. The clock is read at most once in a
// section, when Now is first called. What was queued is written by Leave, so callers need not
// remember to. Init makes it ready.
type Section struct {
	mu      sync.Mutex // guards what follows, and all that its owner says it does
	clock   clock.Clock
	exec    *command.Executor
	ending  Ending
	read    bool          // at is set
	at      time.Duration // the clock's reading
	queued  bool          // there is something to be written
	outside []func()      // to be run without the mutex: callbacks into others' code
}

// Ending is how a section writes what it has queued.
type Ending bool

const (
	// MayBlock is for goroutines of callers, and for those of timers: they encode all
	// that is queued, and a lone caller waits some milliseconds for its own reply. They
	// don't wait for a write.
	MayBlock Ending = true

	// MustNotBlock is for the goroutines that read replies and messages and that renew, and for
	// calls that promise not to wait: another goroutine writes, unless there is little to
	// write.
	MustNotBlock Ending = false
)

// Init makes the zero Section ready. It is called once, before any other method.
func (x *Section) Init(now clock.Clock, exec *command.Executor) { x.clock, x.exec = now, exec }

// Enter begins a section and returns x. Leave must be called.
func (x *Section) Enter(e Ending) *Section {
	x.mu.Lock()
	x.ending, x.read = e, false
	return x
}

// Leave ends the section, runs what was deferred, and has the executor write what was queued.
func (x *Section) Leave() {
	e, queued, outside := x.ending, x.queued, x.outside
	x.queued, x.outside = false, nil
	x.mu.Unlock()
	for _, fn := range outside {
		fn()
	}
	switch {
	case !queued:
	case e == MayBlock:
		x.exec.Flush()
	default:
		x.exec.WakeWriter()
	}
}

// Now is the time of the section.
func (x *Section) Now() time.Duration {
	if !x.read {
		x.read, x.at = true, x.clock.Now()
	}
	return x.at
}

// After runs fn when the section has been left.
func (x *Section) After(fn func()) { x.outside = append(x.outside, fn) }

// Enqueue is command.Executor.Enqueue.
func (x *Section) Enqueue(r *command.Request) bool {
	x.queued = true
	return x.exec.Enqueue(r)
}

// Queued notes that something was given to the executor by another way than Enqueue.
func (x *Section) Queued() { x.queued = true }

// Without runs fn, which may block, without the section, and enters another one.
func (x *Section) Without(fn func()) {
	x.Leave()
	fn()
	x.Enter(MayBlock)
}

// Await is command.Executor.Await, of what was queued in the section.
func (x *Section) Await(r *command.Request) { x.Without(func() { x.exec.Await(r) }) }

// Barrier is command.Executor.Barrier.
func (x *Section) Barrier(r *command.Request) { x.Without(func() { x.exec.Barrier(r) }) }
