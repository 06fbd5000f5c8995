package rlock

// NewFairLock returns a handle for the fair lock with this name, Redisson's
// getFairLock(name). It does no I/O. Names follow NewLock's rules.
//
// A fair lock is a [Lock] that its waiters, Java's included, get in the order in which they
// asked: a release wakes the first of a queue on the server, and nobody else can acquire the
// lock meanwhile. TryLock fails while others wait. A waiter whose wait ends, by ctx, by time
// or by Close, leaves the queue at once. The waiter of a process that died keeps its place
// as long as it could have waited, see WithFairWait. If it is the first, nobody gets the
// free lock until then. A waiter whose command was lost continues at the end of the queue.
//
// All callers that wait as one owner, by As, share a place while the first of them waits.
// Info counts the places. Courtesy does not apply. Use one kind of lock for one name: a
// plain lock of the name ignores the queue.
func (c *Client) NewFairLock(name string) *Lock { return c.newLock(c.fair, name) }
