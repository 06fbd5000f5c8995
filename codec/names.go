package codec

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// latchIDLen is the length of a latch id in bytes.
const latchIDLen = 32

// Channel is the name of the channel on which an unlock of key is announced. key
// is the lock's name after any name mapping. A key without "{" is put in braces;
// one with "{" is assumed to have a hash tag.
// (Redisson: RedissonLock's channel name, the same since 3.2.)
func Channel(key string) string { return braced("redisson_lock__channel:", key) }

// TokenKey is the name of the key in which a fenced lock at key counts its grants.
// It never expires. Braces are added as in [Channel]. (Redisson: RFencedLock.)
func TokenKey(key string) string { return braced("redisson_lock_token:", key) }

// ReadWriteChannel is the name of the channel on which the releases of a read-write
// lock are announced, both of its read and of its write lock. Braces are added as in
// [Channel]. (Redisson: RReadWriteLock.)
func ReadWriteChannel(key string) string { return braced("redisson_rwlock:", key) }

// ReadHolds is the prefix of the keys of a read-write lock's read holds. Each key is
// this prefix, ":", the owner, ":rwlock_timeout:" and a number from 1 on. Braces are
// added as in [Channel]. (Redisson: RedissonReadLock's timeout prefix.)
func ReadHolds(key string) string { return braced("", key) }

// PermitChannel is the name of the channel on which the permits of a semaphore are
// announced. Braces are added as in [Channel]. (Redisson: RSemaphore and
// RPermitExpirableSemaphore.)
func PermitChannel(key string) string { return braced("redisson_sc:", key) }

// PermitTimes is the name of the sorted set of a semaphore's taken permits: the id of
// each, with its expiry in ms since 1970 as score. Braces are added as in [Channel].
// (Redisson: RPermitExpirableSemaphore.)
func PermitTimes(key string) string { return braced("", key) + ":timeout" }

// CountDownChannel is the name of the channel on which changes of a count-down latch's
// count are announced. The key is always put in braces. (Redisson: RCountDownLatch.)
func CountDownChannel(key string) string { return "redisson_countdownlatch__channel__{" + key + "}" }

// braced is prefix and key, with key in braces unless it has an opening one.
func braced(prefix, key string) string {
	if strings.Contains(key, "{") {
		return prefix + key
	}
	return prefix + "{" + key + "}"
}

// FairQueue is the name of the list of the owners that wait for a fair lock.
// Braces are added as in [Channel]. (Redisson: RFairLock.)
func FairQueue(key string) string { return braced("redisson_lock_queue:", key) }

// FairTimes is the name of the sorted set of the owners in the [FairQueue], with the
// time, in ms since 1970, until which each keeps its place. Braces are added as in
// [Channel].
func FairTimes(key string) string { return braced("redisson_lock_timeout:", key) }

// FairChannel is the name of the channel on which a fair lock's release is announced
// to this owner only.
func FairChannel(key, owner string) string { return Channel(key) + ":" + owner }

// Latch is the name of the key in which one unlock of key stores its result. id
// is new for each unlock (see [FreshLatch]), and stays the same if that unlock is
// sent again. Braces are added as in [Channel]. (Redisson: since 3.24.)
func Latch(key, id string) string {
	const prefix = "redisson_unlock_latch:"
	if strings.Contains(key, "{") {
		return prefix + key + ":" + id
	}
	return prefix + "{" + key + "}:" + id
}

// FreshLatch is Latch with a new random id.
func FreshLatch(key string) string {
	id := latchID()
	return Latch(key, string(id[:]))
}

// latchID makes the id of a latch: 128 random bits as latchIDLen lowercase hex
// digits. With equal ids one unlock would take another's result for its own. Bits
// from the system's random source are unique without coordination between processes.
func latchID() (digits [latchIDLen]byte) {
	var bits [latchIDLen / 2]byte
	_, _ = rand.Read(bits[:]) // never fails: without randomness it ends the program
	hex.Encode(digits[:], bits[:])
	return digits
}
