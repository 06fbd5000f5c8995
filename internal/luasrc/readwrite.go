package luasrc

import "slices"

// These are the scripts of a read-write lock, each with the function that makes calls of it.
var (
	ReadLockScript       = newScript("read_lock")                             // ReadLock
	ReadUnlockScript     = newScript("tell", "left", "holds", "read_unlock")  // ReadUnlock
	ReadRenewScript      = newScript("read_renew")                            // ReadRenew
	WriteLockScript      = newScript("write_lock")                            // WriteLock
	WriteUnlockScript    = newScript("tell", "left", "holds", "write_unlock") // WriteUnlock
	ReadWriteForceScript = newScript("tell", "rw_force")                      // ReadWriteForce
	ReadWriteInfoScript  = newScript("rw_info")                               // ReadWriteInfo

	ReadLockAgainScript  = newAgain("again_read", "read_lock")   // Again of ReadLock
	WriteLockAgainScript = newAgain("again_write", "write_lock") // Again of WriteLock
)

// NoReadWriteLock is the reply of ReadLock, WriteLock and ReadWriteInfo if key is a hash of another kind.
const NoReadWriteLock = "a hash without mode"

// ReadLock acquires a read-write lock for owner to read, unless another owner writes, and makes
// the key of the hold, with the lease, in ms and at least 1. The lock lives for the longer of
// its TTL and the lease. holds is codec.ReadHolds of key.
//
//	KEYS  key, channel; or key alone, while a slot moves
//	ARGV  channel if it is no key, lease, owner, holds
//	reply nil: one hold more; PTTL of key: another's (DecodeAcquire); NoReadWriteLock: untouched
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func ReadLock(dst []any, key, channel, holds, owner, lease Arg) Call {
	return ReadLockScript.call(dst, 2, key, channel, lease, owner, holds)
}

// WriteLock is [ReadLock] to write. It is refused if another owner holds, or if owner only
// reads.
//
//	KEYS  key
//	ARGV  lease, owner
//	reply as ReadLock's
func WriteLock(dst []any, key, owner, lease Arg) Call {
	return WriteLockScript.call(dst, 1, key, lease, owner)
}

// ReadUnlock gives up one read hold of owner. The owner's other holds get lease, in ms, or keep
// theirs if it is 0. If no owner holds, key is deleted and "0" is sent to channel by the command
// publish; otherwise key lives as long as its longest hold, or up to a second longer. The result is
// kept in latch for latchTTL ms, unless the owner had no hold. Without a latch it is as [UnlockTo]:
// see [Left]. Without key, the message is sent too.
//
//	KEYS  key, channel, holds, or these and latch; or key alone, while a slot moves
//	ARGV  channel and holds if they are no keys, lease, owner, latchTTL, least, exact, publish; with Both SPublish and Publish
//	reply nil: no hold to read; 0: the owner has holds left, of either sort; 1: none (DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func ReadUnlock(dst []any, key, channel, holds, latch, owner, lease, latchTTL Arg, to Left, publish Arg) Call {
	return rwUnlock(dst, ReadUnlockScript, key, channel, holds, latch, owner, lease, latchTTL, to, publish)
}

// WriteUnlock is [ReadUnlock] for a write hold. After the last one, or without key, "1" is sent
// to channel, even if owner still reads.
func WriteUnlock(dst []any, key, channel, holds, latch, owner, lease, latchTTL Arg, to Left, publish Arg) Call {
	return rwUnlock(dst, WriteUnlockScript, key, channel, holds, latch, owner, lease, latchTTL, to, publish)
}

func rwUnlock(dst []any, s *Script, key, channel, holds, latch, owner, lease, latchTTL Arg, to Left, publish Arg) Call {
	return s.latched(dst, latch, key, channel, holds).with(lease, owner, latchTTL).to(to).by(publish)
}

// ReadRenew is [Renew] for read holds: the keys of all holds of the owner get the lease, and
// their lock lives for the longer of its TTL and the lease. holds are the keys of the owner's
// first holds, numbered from 1. No key is created.
//
//	KEYS  key, holds…, key, holds…
//	ARGV  lease, and for each lock owner, how many holds
//	reply array of 1: renewed, 0: not held (DecodeRenew)
func ReadRenew(dst []any, lease Arg, n int, lock func(i int) (key Arg, holds []string, owner Arg)) Call {
	var keys []any
	args := []any{lease}
	for i := range n {
		key, holds, owner := lock(i)
		keys = append(keys, key)
		for _, hold := range holds {
			keys = append(keys, hold)
		}
		args = append(args, owner, len(holds))
	}
	return ReadRenewScript.call(slices.Grow(dst, 2+len(keys)+len(args)), len(keys), keys...).with(args...)
}

// ReadWriteForce deletes key whichever owner holds it, with the keys of its read holds, if it is
// in mode, and sends message to channel by the command publish.
//
//	KEYS  key, channel, holds
//	ARGV  mode, message, publish; with Both SPublish and Publish
//	reply 1: deleted; 0: not in that mode (DecodeForce)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func ReadWriteForce(key, channel, holds, mode, message, publish Arg) Call {
	return ReadWriteForceScript.call(nil, 3, key, channel, holds, mode, message).by(publish)
}

// ReadWriteInfo is [Info] for one owner that holds in mode.
func ReadWriteInfo(dst []any, key, mode Arg) Call {
	return ReadWriteInfoScript.call(dst, 1, key, mode)
}
