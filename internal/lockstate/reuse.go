package lockstate

import "sync"

// reused has objects of one sort for their next use: otherwise the garbage collector
// runs three times as often, and each run shrinks the stacks of waiting goroutines,
// which then grow again with their next command.
//
// The last user of an object puts it back, cleared and once, where it is certain
// that nobody else refers to it. In all other cases nobody does, and the garbage
// collector frees it. Put back is
//   - an attempt or a release at the end of its Done, unless a timer was made for it;
//     a release that is sent again, or whose caller has no outcome yet, stays;
//   - a waiter whose first attempt was granted, by the later of that attempt and
//     its caller;
//   - an outcome by the caller that has received from it.
//
// Each client has its own, since an object with a channel that was made in the
// bubble of a synctest must not be used outside of it.
type reused[T any] struct{ pool sync.Pool }

func reuse[T any](fresh func() T) reused[T] {
	return reused[T]{sync.Pool{New: func() any { return fresh() }}}
}

func (r *reused[T]) get() T  { return r.pool.Get().(T) }
func (r *reused[T]) put(v T) { r.pool.Put(v) }

// spares are the objects of one client for their next use.
type spares struct {
	attempts reused[*attempt]
	releases reused[*releasing]
	outcomes reused[chan error]
	waiters  reused[*Waiter]
}

func newSpares() spares {
	return spares{
		attempts: reuse(func() *attempt { return new(attempt) }),
		releases: reuse(func() *releasing { return new(releasing) }),
		outcomes: reuse(func() chan error { return make(chan error, 1) }),
		waiters: reuse(func() *Waiter {
			w := &Waiter{ready: make(chan struct{}, 1)}
			w.Call = w
			return w
		}),
	}
}
