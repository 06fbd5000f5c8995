package rlock

import "github.com/rlock-go/redisson/internal/kind"

// NewNonReentrantLock returns a handle for the lock with this name that an owner
// can't enter twice, Redisson's getNonReentrantLock(name). It does no I/O. Names
// are as NewLock's.
//
// It is a [Lock] that differs in one thing: an acquire with As of an owner that
// holds the lock already, by whatever handle, is ErrReentered at once, and
// changes nothing. Without As each acquisition has an owner of its own, so a
// nested one waits, as with NewLock.
//
// Its key is a plain lock's, so the two exclude and wake each other. The rule is
// the handle's and not the key's: the same owner can re-enter by NewLock.
func (c *Client) NewNonReentrantLock(name string) *Lock { return c.newLock(kind.NonReentrant, name) }
