package javapeer

import "context"

// Number is an RSemaphore or an RCountDownLatch of one name, on a thread of the JVM.
type Number struct {
	t    *Thread
	name string
}

// Semaphore does not talk to the JVM.
func (t *Thread) Semaphore(name string) *Number { return &Number{t.Of("semaphore"), name} }

// CountDownLatch does not talk to the JVM.
func (t *Thread) CountDownLatch(name string) *Number { return &Number{t.Of("countdown"), name} }

// Do calls a method, by its name in small letters, with what it takes besides units: numbers and durations. Text is the
// answer. A semaphore has acquire, tryacquire, tryacquirefor, release, releaseifexists (none in 3.52.0 and older),
// trysetpermits, addpermits (none in 3.11.6), available, drain and delete; a latch trysetcount, countdown, await, awaitfor,
// count and delete.
func (n *Number) Do(ctx context.Context, method string, args ...any) (Reply, error) {
	return n.t.Call(ctx, n.name, method, args...)
}
