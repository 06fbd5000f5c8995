package rlock

import (
	"sync"
)

// What every acquire and unlock makes and throws away is used again, or the
// collector runs three times as often, and each time it takes from those who
// wait the stack that their next command needs. An object is put back by the
// last who may touch it, and only on the plain way: asked once, answered once,
// no timer and no other connection involved. All else is the collector's.
var (
	attempts = sync.Pool{New: func() any { return new(attempt) }}
	releases = sync.Pool{New: func() any { return new(release) }}
	waiters  = sync.Pool{New: func() any { return &waiter{ready: make(chan struct{}, 1)} }}
	outcomes = sync.Pool{New: func() any { return make(chan error, 1) }}
)

// done follows the attempt's end, in its Complete: nothing knows it any more
// but a timer that waits for it to get stuck.
func (a *attempt) done() {
	if a.referenced {
		return
	}
	*a = attempt{}
	attempts.Put(a)
}

// done is for the two who know a waiter that was granted the lock by its first
// attempt: that attempt, and the waiter's caller. The last one puts it back.
func (w *waiter) done() {
	if w.references.Add(1) < 2 {
		return
	}
	ready := w.ready
	*w = waiter{ready: ready}
	waiters.Put(w)
}

// done follows a release's end, in its Complete.
func (r *release) done() {
	if !r.reported || r.referenced {
		return
	}
	*r = release{}
	releases.Put(r)
}
