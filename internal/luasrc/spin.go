package luasrc

// SpinUnlock is [Unlock] for a lock whose waiters use no channel: nothing is published.
//
//	KEYS  key, latch
//	ARGV  lease, owner, latchTTL
//	reply nil: no hold; 0: holds left; 1: free (DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func SpinUnlock(dst []any, key, latch, owner, lease, latchTTL Arg) Call {
	return SpinUnlockScript.call(dst, 2, key, latch, lease, owner, latchTTL)
}

// SpinForceUnlock deletes key whichever owner holds it, and publishes nothing.
//
//	KEYS  key
//	reply 1: deleted; 0: was not there (DecodeForce); 2: left alone; {1, why}: deleted unasked
//
// A key of another type is deleted too, as by Redisson.
func SpinForceUnlock(key Arg) Call {
	return SpinForceUnlockScript.call(nil, 1, key)
}
