package luasrc

import (
	"slices"

	"github.com/rlock-go/redisson/codec"
)

// These commands announce an unlock. SPublish reaches only subscribers of the sharded kind
// (Redis 7 and newer), Publish only those of the plain kind.
const (
	Publish  = "PUBLISH"
	SPublish = "SPUBLISH"

	// Both stands for the two, in one script. It is not a command.
	Both = "SPUBLISH and PUBLISH"
)

// MaxArgs is room for the Args of an acquire and an unlock of a plain lock, except UnlockKeep
// and an Unlock by Both. Calls with more Args, as for a fair lock, allocate.
const MaxArgs = 10

// Arg is one argument as redigo takes it: a string or an integer. Its user boxes it, and boxes
// recurring arguments once.
type Arg = any

// Call is a script with its arguments. It can be sent any number of times. The functions that
// make one append to dst, which may be nil, so that a caller can provide the memory.
type Call struct {
	Script *Script // the script of the SHA-1
	Args   []any   // what follows the name EVALSHA: the SHA-1, the number of keys, the keys, the arguments
}

// call makes a call of s, whose first keys arguments are keys.
func (s *Script) call(dst []any, keys int, args ...any) Call {
	return Call{s, append(append(slices.Grow(dst, 2+len(args)), s.shaArg, keys), args...)}
}

// with appends arguments.
func (c Call) with(args ...any) Call {
	c.Args = append(c.Args, args...)
	return c
}

// by appends the commands that publish stands for.
func (c Call) by(publish Arg) Call {
	if publish == Both {
		return c.with(SPublish, Publish)
	}
	return c.with(publish)
}

// Lock acquires key for owner if it is free or already the owner's, and sets its lease, in ms
// and at least 1.
//
//	KEYS  key
//	ARGV  lease, owner
//	reply nil: one hold more; PTTL of key: another's (codec.DecodeAcquire)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func Lock(dst []any, key, owner, lease Arg) Call {
	return LockScript.call(dst, 1, key, lease, owner)
}

// Unlock gives up one hold of owner. If it was the last, key is deleted and the message is sent
// to channel by the command publish; otherwise key gets lease, in ms and at least 1. Unless the
// owner had no hold, the result is kept in latch for latchTTL ms, at least 1. While latch
// exists, the same call returns its result and does nothing.
//
//	KEYS  key, channel, latch
//	ARGV  codec.UnlockMessage, lease, owner, publish, latchTTL; with Both SPublish, and Publish behind the rest
//	reply nil: no hold; 0: holds left; 1: free (codec.DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func Unlock(dst []any, key, channel, latch, owner, lease, latchTTL, publish Arg) Call {
	if publish == Both {
		return UnlockScript.call(dst, 3, key, channel, latch, codec.UnlockMessage, lease, owner, SPublish, latchTTL, Publish)
	}
	return UnlockScript.call(dst, 3, key, channel, latch, codec.UnlockMessage, lease, owner, publish, latchTTL)
}

// UnlockOnce is [Unlock] without a latch, for an owner that is used once: no other command makes
// its hold, so the call may run any number of times. It has the arguments that Redisson sent
// before 3.24, followed by the commands that publish if these are not Publish alone.
//
//	KEYS  key, channel
//	ARGV  codec.UnlockMessage, lease, owner, or these and publish; with Both these, SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: free (codec.DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func UnlockOnce(dst []any, key, channel, owner, lease, publish Arg) Call {
	call := UnlockOnceScript.call(dst, 2, key, channel, codec.UnlockMessage, lease, owner)
	if publish == Publish {
		return call
	}
	return call.by(publish)
}

// UnlockAlone is [UnlockOnce] with key as the only key. A cluster that moves the slot runs it
// where key is, and would refuse the other form with TRYAGAIN.
//
//	KEYS  key
//	ARGV  codec.UnlockMessage, lease, owner, channel, publish; with Both SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: free (codec.DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func UnlockAlone(dst []any, key, channel, owner, lease, publish Arg) Call {
	return UnlockAloneScript.call(dst, 1, key, codec.UnlockMessage, lease, owner, channel).by(publish)
}

// UnlockKeep is [Unlock], but leaves key to keeper for keep ms, at least 1, and sends the
// message to channel. Without a latch it may run any number of times while keeper has key, and
// later too if its owner is used once. If publish is nil, no message is sent.
//
//	KEYS  key, or key and latch
//	ARGV  codec.UnlockMessage, lease, owner, channel, latchTTL, keeper, keep, publish; with Both SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: that was the last (codec.DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func UnlockKeep(dst []any, key, latch, channel, owner, lease, latchTTL, keeper, keep, publish Arg) Call {
	keys := []any{key, latch}
	if latch == nil {
		keys = keys[:1]
	}
	call := UnlockKeepScript.call(dst, len(keys), keys...).with(codec.UnlockMessage, lease, owner, channel, latchTTL, keeper, keep)
	if publish == nil {
		return call
	}
	return call.by(publish)
}

// ForceUnlock deletes key whichever owner holds it, and sends the message to channel by the
// command publish if there was something to delete.
//
//	KEYS  key, channel
//	ARGV  codec.UnlockMessage, publish; with Both SPublish and Publish
//	reply 1: deleted; 0: was not there (codec.DecodeForce)
//
// A key of another type is deleted too, as by Redisson.
func ForceUnlock(key, channel, publish string) Call {
	return ForceUnlockScript.call(nil, 2, key, channel, codec.UnlockMessage).by(publish)
}

// ForceUnlockAlone is [ForceUnlock] with key as the only key. A cluster that moves the slot runs
// it where key is, and would refuse the other form with TRYAGAIN.
//
//	KEYS  key
//	ARGV  codec.UnlockMessage, channel, publish; with Both SPublish and Publish
//	reply 1: deleted; 0: was not there (codec.DecodeForce)
//
// A key of another type is deleted too.
func ForceUnlockAlone(key, channel, publish string) Call {
	return ForceUnlockAloneScript.call(nil, 1, key, codec.UnlockMessage, channel).by(publish)
}

// Renew gives each of n locks a new lease, in ms, if its owner holds it; with a lease of 0 it
// only checks. It calls lock twice for each index and keeps no reference to it. n should be at
// most watchdog.MaxBatch; Redisson has 100. Room in dst for 3+2n arguments saves an allocation.
//
//	KEYS  keys…
//	ARGV  lease, owners…
//	reply array of 1: renewed, 0: not held (codec.DecodeRenew)
//
// A key of another type makes the whole call fail with WRONGTYPE; the keys before it are renewed
// then, those after it are not. In a cluster all keys must be in one slot.
func Renew(dst []any, lease Arg, n int, lock func(i int) (key, owner Arg)) Call {
	call := RenewScript.call(slices.Grow(dst, 3+2*n), n)
	for i := range n {
		key, _ := lock(i)
		call = call.with(key)
	}
	call = call.with(lease)
	for i := range n {
		_, owner := lock(i)
		call = call.with(owner)
	}
	return call
}
