package locks

import "sync"

// spares are one client's objects for reuse. Without them the garbage collector runs three
// times as often, and each run shrinks the stacks of waiting goroutines, which then grow again
// with their next command.
//
// The last user of an object puts it back, cleared and once, if it is certain that nobody else
// refers to it. Otherwise the garbage collector frees it. These are put back:
//   - an attempt at the end of its Answered, unless a timer was made for it;
//   - a release at the end of its Answered, if it was sent once and answered, and no timer
//     was made for it;
//   - a waiter whose first attempt was granted, by the later of that attempt and its caller,
//     together with its observe.Call;
//   - an unlock's observe.Call, by the later of the release, if that is put back, and its
//     caller;
//   - an outcome by the caller that has received from it.
//
// Each client has its own spares: a channel that was made in the bubble of a synctest must not
// be used outside of it.
type spares struct{ attempts, releases, outcomes, waiters, calls sync.Pool }

// spare takes an object out of a pool, or makes one.
func spare[T any](p *sync.Pool) *T {
	if x, ok := p.Get().(*T); ok {
		return x
	}
	return new(T)
}
