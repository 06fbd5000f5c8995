package codec

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// latchIDLen is the length of a latch id in bytes.
const latchIDLen = 32

// Channel is the name of the channel on which the unlocking of key is
// announced. key is the lock's name after any name mapping. A key without "{"
// is put in braces; one with "{" is taken to bring its own hash tag.
// (Redisson: RedissonLock's channel name, the same since 3.2.)
func Channel(key string) string { return braced("redisson_lock__channel:", key) }

// TokenKey is the name of the key in which a fenced lock at key counts its grants.
// It never expires. Braces are added as in [Channel]. (Redisson: RFencedLock.)
func TokenKey(key string) string { return braced("redisson_lock_token:", key) }

// ReadWriteChannel is the name of the channel on which the releases of a read-write
// lock are announced, both of its read and of its write lock. Braces are added as in
// [Channel]. (Redisson: RReadWriteLock.)
func ReadWriteChannel(key string) string { return braced("redisson_rwlock:", key) }

// ReadHolds is what the keys of a read-write lock's read holds begin with: each is
// this, ":", the owner, ":rwlock_timeout:" and a number from 1 on. Braces are added as
// in [Channel]. (Redisson: RedissonReadLock's timeout prefix.)
func ReadHolds(key string) string { return braced("", key) }

// PermitChannel is the name of the channel on which the permits of a semaphore are
// announced. Braces are added as in [Channel]. (Redisson: RSemaphore and
// RPermitExpirableSemaphore.)
func PermitChannel(key string) string { return braced("redisson_sc:", key) }

// PermitTimes is the name of the sorted set of the ids of a semaphore's permits that
// are taken, and until when each is, in ms since 1970. Braces are added as in [Channel].
// (Redisson: RPermitExpirableSemaphore.)
func PermitTimes(key string) string { return braced("", key) + ":timeout" }

// CountDownChannel is the name of the channel on which a count-down latch tells that its
// count has changed. The key is always put in braces. (Redisson: RCountDownLatch.)
func CountDownChannel(key string) string { return "redisson_countdownlatch__channel__{" + key + "}" }

// braced is prefix with key, in braces unless it has one.
func braced(prefix, key string) string {
	if strings.Contains(key, "{") {
		return prefix + key
	}
	return prefix + "{" + key + "}"
}

// FairQueue is the name of the list of the owners that wait for a fair lock.
// Braces are added as in [Channel]. (Redisson: RFairLock.)
func FairQueue(key string) string { return braced("redisson_lock_queue:", key) }

// FairTimes is the name of the sorted set of the times, in ms since 1970, until
// which each owner in the [FairQueue] keeps its place.
func FairTimes(key string) string { return braced("redisson_lock_timeout:", key) }

// FairChannel is the name of the channel on which the one owner is told that the
// fair lock is free.
func FairChannel(key, owner string) string { return Channel(key) + ":" + owner }

// Latch is the name of the key in which one unlock of key keeps its result. id
// is fresh for each unlock (see [FreshLatch]) and the same when that unlock is
// repeated. Braces are added as in [Channel]. (Redisson: since 3.24.)
func Latch(key, id string) string {
	const prefix = "redisson_unlock_latch:"
	if strings.Contains(key, "{") {
		return prefix + key + ":" + id
	}
	return prefix + "{" + key + "}:" + id
}

// FreshLatch is Latch with an id of its own.
func FreshLatch(key string) string {
	id := latchID()
	return Latch(key, string(id[:]))
}

// latchID makes the id of a latch: 128 random bits as latchIDLen lowercase hex
// digits. Equal ids would let one unlock take another's result for its own, so
// they come from the system's random source and need no coordination between
// processes.
func latchID() (digits [latchIDLen]byte) {
	var bits [latchIDLen / 2]byte
	_, _ = rand.Read(bits[:]) // never fails: without randomness it ends the program
	hex.Encode(digits[:], bits[:])
	return digits
}
