package luasrc

// FencedLock is [Lock] for a lock whose grants are counted in the key tokens.
//
//	KEYS  key, tokens
//	ARGV  lease, owner
//	reply array of the grant's number: one hold more; PTTL of key: another's (DecodeFencedAcquire)
//
// A key of another type makes it fail with WRONGTYPE. A value of tokens that is not a number
// makes it fail with another error. All keys stay untouched.
func FencedLock(dst []any, key, tokens, owner, lease Arg) Call {
	return FencedLockScript.call(dst, 2, key, tokens, lease, owner)
}
