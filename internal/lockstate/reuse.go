package lockstate

import (
	"sync"
)

// The objects of each acquire and unlock are used again. Otherwise the garbage
// collector runs three times as often, and each run shrinks the stacks of
// waiting goroutines, which then grow again with their next command. The last
// user puts an object back, and only in the plain case: sent once, answered
// once, without a timer and on one connection. The garbage collector frees all
// others.
var (
	attempts = sync.Pool{New: func() any { return new(attempt) }}
	releases = sync.Pool{New: func() any { return new(release) }}
	waiters  = sync.Pool{New: func() any { return new(Waiter).renew(make(chan struct{}, 1)) }}
	outcomes = sync.Pool{New: func() any { return make(chan error, 1) }}
)

// done puts the attempt back at the end of its Complete. Then only a timer
// could still refer to it.
func (a *attempt) done() {
	if a.referenced {
		return
	}
	*a = attempt{}
	attempts.Put(a)
}

// done is called by the two that refer to a waiter whose first attempt was
// granted: that attempt, and the waiter's caller. The last one puts it back.
func (w *Waiter) done() {
	if w.references.Add(1) < 2 {
		return
	}
	waiters.Put(w.renew(w.ready))
}

func (w *Waiter) renew(ready chan struct{}) *Waiter {
	*w = Waiter{ready: ready}
	w.Call = w
	return w
}

// done puts the release back at the end of its Complete.
func (r *release) done() {
	if !r.reported || r.referenced {
		return
	}
	*r = release{}
	releases.Put(r)
}
