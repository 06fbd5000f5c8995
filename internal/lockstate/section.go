package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// section is a critical section of a shard: whatever happens between enter and
// leave happens at one moment, for which the clock is read once at the most, and
// only if somebody asks. What it queues is written when it has left, so nobody
// has to remember that. There is one of it in each shard, since one can be in
// progress at a time.
type section struct {
	s       *shard
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

// enter begins a critical section. leave must be called.
func (s *shard) enter(e ending) *section {
	s.mu.Lock()
	s.sec.ending, s.sec.read = e, false
	return &s.sec
}

// leave ends it, runs what was deferred, and has written what was queued.
func (x *section) leave() {
	c, e, queued, outside := x.s.c, x.ending, x.queued, x.outside
	x.queued, x.outside = false, nil
	x.s.mu.Unlock()
	for _, fn := range outside {
		fn()
	}
	switch {
	case !queued:
	case e == mayBlock:
		c.exec.Flush()
	default:
		c.exec.WakeWriter()
	}
}

// now is the time of the section.
func (x *section) now() time.Duration {
	if !x.read {
		x.read, x.at = true, x.s.c.now()
	}
	return x.at
}

// after runs fn when the section has been left.
func (x *section) after(fn func()) { x.outside = append(x.outside, fn) }

// enqueue is command.Executor.Enqueue.
func (x *section) enqueue(r *command.Request) bool {
	x.queued = true
	return x.s.c.exec.Enqueue(r)
}

// ask is State.ask, whose question is written when the section has been left.
func (x *section) ask(l *Lock, call kind.Call, limit time.Duration, then func(reply any, err error)) {
	x.queued = true
	x.s.c.ask(l.slot, call.Name, call.Args, limit, then)
}
