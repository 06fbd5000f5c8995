package rlock

import "github.com/rlock-go/redisson/internal/kind"

// NewSpinLock returns a handle for the spin lock with this name, Redisson's
// getSpinLock(name). It does no I/O. Names follow NewLock's rules.
//
// A spin lock is a [Lock] whose release is not announced. A waiter tries again
// after a pause, which begins at 1 ms, doubles with each try up to 128 ms, and is
// shortened at random to as little as half. So a release costs no message, and a
// wait no subscription. It suits a lock that is held for moments and that two
// callers rarely want at once. A waiter may get the lock 128 ms late. Waiters of
// different clients have no order; those of one client queue, and one of them
// tries at a time.
//
// Its key is a plain lock's, so the two exclude each other, and an [Owner] can
// re-enter one through the other. But waiters of a plain lock get no message when
// a spin lock of the same name is released: they enter when its lease ends. Use
// one kind for one name. Courtesy does not apply to it.
func (c *Client) NewSpinLock(name string) *Lock { return c.newLock(kind.Spin, name) }
