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

// MaxArgs is room for the Args of an acquire and an unlock without a latch of a plain or a
// read-write lock, except UnlockKeep and an unlock by Both. Calls with more Args, as for a fair
// lock, allocate.
const MaxArgs = 11

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

// by appends the commands that publish stands for; nil: none.
func (c Call) by(publish Arg) Call {
	switch publish {
	case nil:
		return c
	case Both:
		return c.with(SPublish, Publish)
	}
	return c.with(publish)
}

// Lock acquires key for owner if it is free or already the owner's, and sets its lease, in ms
// and at least 1.
//
//	KEYS  key
//	ARGV  lease, owner
//	reply nil: one hold more; PTTL of key: another's (DecodeAcquire)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func Lock(dst []any, key, owner, lease Arg) Call {
	return LockScript.call(dst, 1, key, lease, owner)
}

// Gone is the reply of an [Again] to an owner whose other holds are gone, and that of a change that
// may have run, see [Call.Since].
const Gone = "GONE"

// Again makes of an acquire one that may be sent where the acquire may have run, any number of times,
// while only its client acts for the owner. Afterwards the owner has holds holds, which are those
// that its client still needs and this one. If it lacks the others, and may have the lock, it gets
// none: Gone. Of a ReadLock it needs all keys. A PermitAcquire, whose owner is used once, may be sent
// as it is.
//
//	KEYS  as of the acquire
//	ARGV  as of the acquire, holds
//	reply as of the acquire, or Gone
func Again(acquire Call, holds int) Call {
	s := map[*Script]*Script{
		LockScript: LockAgainScript, FencedLockScript: FencedLockAgainScript, NonReentrantLockScript: NonReentrantLockAgainScript,
		FairLockScript: FairLockAgainScript, ReadLockScript: ReadLockAgainScript, WriteLockScript: WriteLockAgainScript,
	}[acquire.Script]
	if s == nil {
		return acquire
	}
	call := Call{s, acquire.Args}.with(holds)
	call.Args[0] = s.shaArg
	return call
}

// Unlock gives up one hold of owner. If it was the last, key is deleted and the message is sent
// to channel by the command publish; otherwise key gets lease, in ms and at least 1. Unless the
// owner had no hold, the result is kept in latch for latchTTL ms, at least 1. While latch
// exists, the same call returns its result and does nothing.
//
//	KEYS  key, channel, latch
//	ARGV  codec.UnlockMessage, lease, owner, publish, latchTTL; with Both SPublish, and Publish behind the rest
//	reply nil: no hold; 0: holds left; 1: free (DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func Unlock(dst []any, key, channel, latch, owner, lease, latchTTL, publish Arg) Call {
	if publish == Both {
		return UnlockScript.call(dst, 3, key, channel, latch, codec.UnlockMessage, lease, owner, SPublish, latchTTL, Publish)
	}
	return UnlockScript.call(dst, 3, key, channel, latch, codec.UnlockMessage, lease, owner, publish, latchTTL)
}

// Left says how many holds an unlock leaves to its owner: one less than the server counts, but
// never fewer than Least. If Exact is set, it leaves exactly Least. The zero Left takes one, as an
// unlock with a latch does. One that is not zero needs no latch where only its client acts for the
// owner: however often it runs, it takes none of the holds that the client still needs.
type Left struct {
	Least int
	Exact bool
}

// latched makes a call of s with these keys and, if it is not nil, latch as the last.
func (s *Script) latched(dst []any, latch Arg, keys ...any) Call {
	if latch == nil {
		return s.call(dst, len(keys), keys...)
	}
	return s.call(dst, len(keys)+1, keys...).with(latch)
}

// to appends l.
func (c Call) to(l Left) Call {
	exact := 0
	if l.Exact {
		exact = 1
	}
	return c.with(l.Least, exact)
}

// UnlockTo is [Unlock] without a latch, with key as the only key: a cluster that moves the slot
// runs it where key is. If publish is nil, no message is sent.
//
//	KEYS  key
//	ARGV  codec.UnlockMessage, lease, owner, channel, least, exact, publish; with Both SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: free (DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func UnlockTo(dst []any, key, channel, owner, lease Arg, to Left, publish Arg) Call {
	return UnlockToScript.call(dst, 1, key, codec.UnlockMessage, lease, owner, channel).to(to).by(publish)
}

// UnlockKeep is [Unlock], or [UnlockTo] without a latch, but leaves key to keeper for keep ms, at
// least 1, and sends the message to channel. While keeper has key, it changes nothing. If publish
// is nil, no message is sent.
//
//	KEYS  key, or key and latch
//	ARGV  codec.UnlockMessage, lease, owner, channel, latchTTL, keeper, keep, least, exact, publish; with Both SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: that was the last (DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func UnlockKeep(dst []any, key, latch, channel, owner, lease, latchTTL, keeper, keep Arg, to Left, publish Arg) Call {
	return UnlockKeepScript.latched(dst, latch, key).with(codec.UnlockMessage, lease, owner, channel, latchTTL, keeper, keep).to(to).by(publish)
}

// ForceUnlock deletes key whichever owner holds it, and sends the message to channel by the
// command publish if there was something to delete.
//
//	KEYS  key, channel
//	ARGV  codec.UnlockMessage, publish; with Both SPublish and Publish
//	reply 1: deleted; 0: was not there (DecodeForce); 2: left alone; {1, why}: deleted unasked
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
//	reply 1: deleted; 0: was not there (DecodeForce); 2: left alone; {1, why}: deleted unasked
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
//	reply array of 1: renewed, 0: not held (DecodeRenew)
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
