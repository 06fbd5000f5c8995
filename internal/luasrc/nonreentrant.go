package luasrc

// Reacquired is the reply of a [NonReentrantLock] to the lock's own owner. (Redisson's script
// returns it as an error.)
const Reacquired = "NON_REENTRANT_REACQUIRE"

// NonReentrantLock is [Lock] for an owner that must not hold key already.
//
//	KEYS  key
//	ARGV  lease, owner, Reacquired
//	reply nil: acquired; Reacquired: the owner's already; PTTL of key: another's (DecodeAcquire)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func NonReentrantLock(dst []any, key, owner, lease Arg) Call {
	return NonReentrantLockScript.call(dst, 1, key, lease, owner, Reacquired)
}
