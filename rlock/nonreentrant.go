package rlock

import "github.com/rlock-go/redisson/internal/kind"

// NewNonReentrantLock returns a handle for the lock with this name that an owner
// can't enter twice, Redisson's getNonReentrantLock(name). It does no I/O. Names
// follow NewLock's rules.
//
// It is a [Lock] that differs in one thing: if the owner of an acquire with As
// holds the lock already, by whatever handle, the error is ErrReentered at
// once, and nothing was changed. Without As each acquisition has its own owner,
// so a nested one waits, as with NewLock.
//
// Its key is a plain lock's, so the two exclude and wake each other. The handle
// makes the rule, not the key: the same owner can re-enter by NewLock.
func (c *Client) NewNonReentrantLock(name string) *Lock { return c.newLock(kind.NonReentrant, name) }
