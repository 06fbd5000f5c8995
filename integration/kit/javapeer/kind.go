package javapeer

import (
	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// Kind is one of Redisson's lock objects. One name is to be used with one kind only.
type Kind string

const (
	// Plain is what RedissonClient.getLock gives.
	Plain Kind = ""
	// Spin is what RedissonClient.getSpinLock gives, which asks again instead of waiting for a message. [Oldest] has none:
	// its commands are answered with an IllegalArgumentException.
	Spin Kind = "spin"
	// Fair is what RedissonClient.getFairLock gives: waiters stand in a queue on the server, each with a channel of its own.
	Fair Kind = "fair"
	// Read is the read lock of what RedissonClient.getReadWriteLock gives.
	Read Kind = "read"
	// Write is its write lock.
	Write Kind = "write"
	// Fenced is what RedissonClient.getFencedLock gives, which numbers its grants. 3.16.8 and older have none.
	Fenced Kind = "fenced"
	// NonReentrant is what RedissonClient.getNonReentrantLock gives, which its own owner is refused. 4.3.0 and older have none.
	NonReentrant Kind = "nonreentrant"
	// Multi is what RedissonClient.getMultiLock gives. Its name is its members', between commas: "orders,fair=stock". It is no
	// lock of its own in package rlock, so it has no GoLock.
	Multi Kind = "multi"
)

// Of is the same thread of the JVM, with locks of another kind.
func (t *Thread) Of(k Kind) *Thread { return &Thread{peer: t.peer, name: t.name, kind: k} }

// GoLock is the lock of this kind that package rlock has.
func (k Kind) GoLock(c *rlock.Client, name string) *rlock.Lock {
	switch k {
	case Spin:
		return c.NewSpinLock(name)
	case Fair:
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

// Channel is what a waiter for a lock of this kind listens to.
func (k Kind) Channel(name string) string {
	if k == Read || k == Write {
		return codec.ReadWriteChannel(name)
	}
	return codec.Channel(name)
}

// command is how the peer is told of the kind.
func (k Kind) command(name string) string {
	if k == Plain {
		return name
	}
	return string(k) + ":" + name
}
