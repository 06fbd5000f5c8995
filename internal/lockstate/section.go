package lockstate

import (
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
)

// section is a critical section of a shard: whatever happens between enter and
// leave happens at one moment, for which the clock is read once at the most, and
// only if somebody asks. What it queues is written when it has left, so nobody
// has to remember that. There is one of it in each shard, since one can be in
// progress at a time.
type section struct {
	mu      *sync.Mutex // the shard's
	clock   clock.Clock
	exec    *command.Executor
	ending  ending
	read    bool          // now is set
	at      time.Duration // the clock's reading
	queued  bool          // there is something to be written
	outside []func()      // to be run without the mutex: callbacks into others' code
}

// ending is how a section writes what it has queued.
type ending bool

const (
	// mayBlock is for goroutines of callers, and for those of timers: they write
	// to the connection themselves.
	mayBlock ending = true

	// mustNotBlock is for the goroutines that read replies and messages and that
	// renew, and for calls that promise not to wait: another goroutine writes
	// unless the kernel takes it at once.
	mustNotBlock ending = false
)

// leave ends it, runs what was deferred, and has written what was queued.
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
		x.exec.WakeWriter()
	}
}

// now is the time of the section.
func (x *section) now() time.Duration {
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
