package javapeer

import (
	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// Kind is one of Redisson's lock objects. Use one name with one kind only.
type Kind string

const (
	// Plain is what RedissonClient.getLock gives.
	Plain Kind = ""
	// Spin is what RedissonClient.getSpinLock gives, which retries instead of waiting for a message. [Oldest] has none:
	// its commands fail with an IllegalArgumentException.
	Spin Kind = "spin"
	// Fair is what RedissonClient.getFairLock gives: waiters queue on the server, each with its own channel.
	Fair Kind = "fair"
	// Read is the read lock of RedissonClient.getReadWriteLock.
	Read Kind = "read"
	// Write is its write lock.
	Write Kind = "write"
	// Fenced is what RedissonClient.getFencedLock gives, which numbers its grants. 3.16.8 and older have none.
	Fenced Kind = "fenced"
	// NonReentrant is what RedissonClient.getNonReentrantLock gives: it refuses its owner too. Not in 4.3.0 and older.
	NonReentrant Kind = "nonreentrant"
	// NonReentrantFair is what RedissonClient.getNonReentrantFairLock gives, where NonReentrant is. Package rlock's is the
	// fair lock, since each of its acquires without As is another owner's.
	NonReentrantFair Kind = "nonreentrantfair"
	// Multi is what RedissonClient.getMultiLock gives. Its name lists its members, with commas between:
	// "orders,fair=stock". Package rlock has no such lock, so GoLock must not be called.
	Multi Kind = "multi"
)

// Of returns the same thread of the JVM, for locks of another kind.
func (t *Thread) Of(k Kind) *Thread { return &Thread{peer: t.peer, name: t.name, kind: k} }

// GoLock returns package rlock's lock of this kind.
func (k Kind) GoLock(c *rlock.Client, name string) *rlock.Lock {
	switch k {
	case Spin:
		return c.NewSpinLock(name)
	case Fair, NonReentrantFair:
		return c.NewFairLock(name)
	case Read:
		return c.NewReadWriteLock(name).ReadLock()
	case Write:
		return c.NewReadWriteLock(name).WriteLock()
	case Fenced:
		return c.NewFencedLock(name)
	case NonReentrant:
		return c.NewNonReentrantLock(name)
	}
	return c.NewLock(name)
}

// Channel is where a lock of this kind announces releases. A Fair lock's waiters have their own, which extend it.
func (k Kind) Channel(name string) string {
	if k == Read || k == Write {
		return codec.ReadWriteChannel(name)
	}
	return codec.Channel(name)
}

// command returns the peer's name for a command on this kind.
func (k Kind) command(name string) string {
	if k == Plain {
		return name
	}
	return string(k) + ":" + name
}
